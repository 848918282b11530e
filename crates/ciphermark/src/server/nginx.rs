//! nginx: found, configured in a directory of its own (what every installation has, and what a site changes),
//! started, ended whatever happens.

use crate::server::cpu::Cpu;
use crate::server::{FILLER, Libraries, trouble};
use adapters::stacks::{dh_parameters, keys};
use record::tls::{Certificate, Exchange, Group};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NginxFacts {
    pub path: PathBuf,
    /// `1.22.1`
    pub version: String,
    /// `OpenSSL 3.0.22 …`, the one it runs with.
    pub tls_library: Option<String>,
}

/// Finds nginx: the file that is named, else where the system's packages and people's own builds put it.
pub fn find(named: Option<&Path>) -> Result<NginxFacts, String> {
    if let Some(path) = named {
        let why = |e: String| format!("'{}' is no nginx: {e}", path.display());
        return facts(path).map_err(why);
    }
    let searched = std::env::var_os("PATH").unwrap_or_default();
    let of_path = std::env::split_paths(&searched);
    let of_root = ["/usr/sbin", "/usr/local/sbin", "/usr/local/nginx/sbin"].map(PathBuf::from);
    let found = of_path.chain(of_root).map(|d| d.join("nginx")).find_map(|path| facts(&path).ok());
    found.ok_or_else(|| {
        "there is no nginx here: install it (package nginx of Debian and Ubuntu; `scripts/setup tests` does), \
             or name its executable with --nginx FILE"
                .to_owned()
    })
}

fn facts(path: &Path) -> Result<NginxFacts, String> {
    let path = path.canonicalize().map_err(|e| e.to_string())?;
    let asked = host::output(Command::new(&path).arg("-V"), &[], PATIENCE, MOST_WORDS);
    let said = asked.map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    let version = said.lines().find_map(|line| line.strip_prefix("nginx version: nginx/"));
    let version = version.ok_or("it does not say its version")?.trim().to_owned();
    Ok(NginxFacts { path, version, tls_library: tls_library(&said) })
}

/// `built with OpenSSL 3.0.20 7 Apr 2026 (running with OpenSSL 3.0.22 25 Aug 2026)`
fn tls_library(said: &str) -> Option<String> {
    let line = said.lines().find_map(|line| line.strip_prefix("built with OpenSSL"))?;
    let running =
        line.split_once("(running with ").map(|(_, r)| r.trim_end_matches(')').to_owned());
    Some(running.unwrap_or_else(|| format!("OpenSSL{line}")))
}

#[derive(Debug)]
pub struct Nginx {
    master: Child,
    worker: u32,
    /// Ports of the sites, in their order.
    pub ports: Vec<u16>,
    /// What it runs with; ports and directory are in it.
    pub configuration: String,
    /// Removed with the value, after nginx has ended.
    directory: TempDir,
    /// Its lock: as long as it is held, the directory is in use, whatever numbers processes have elsewhere.
    _held: File,
}

const MOST_WORDS: u64 = 1 << 20;
/// How long it may take to listen, to end, and to say its version.
const PATIENCE: Duration = Duration::from_secs(20);
/// Free ports may be taken by others between being found and being used.
const TRIES: usize = 3;

impl Nginx {
    /// Starts it on a CPU, with a port for each site and a file for each size. `environment` is added to
    /// what every worker gets.
    pub fn start(
        facts: &NginxFacts,
        sites: &[Site],
        files: &[u64],
        cpu: u32,
        environment: &[(String, String)],
    ) -> Result<Self, String> {
        let mut last = None;
        for _ in 0..TRIES {
            match Self::try_start(facts, sites, files, cpu, environment) {
                Err(why) if why.contains("Address already in use") => last = Some(why),
                other => return other,
            }
        }
        Err(last.unwrap_or_else(|| "nginx was not tried".to_owned()))
    }

    fn try_start(
        facts: &NginxFacts,
        sites: &[Site],
        files: &[u64],
        cpu: u32,
        environment: &[(String, String)],
    ) -> Result<Self, String> {
        let (directory, held) =
            prepare(files).map_err(|e| trouble("cannot prepare a directory for nginx", e))?;
        let ports = free_ports(sites.len()).map_err(|e| trouble("no free port", e))?;
        let configuration = config_text(directory.path(), sites, &ports, environment);
        let place = directory.path().join("nginx.conf");
        write_keys(directory.path(), sites)
            .and_then(|()| fs::write(&place, &configuration))
            .map_err(|e| trouble("cannot write nginx's configuration", e))?;
        // The providers that it names are a script's before us, and nginx runs in no cage.
        if let Some(name) =
            ["OPENSSL_CONF", "OPENSSL_CONF_INCLUDE", "OPENSSL_MODULES", "OPENSSL_ENGINES"]
                .into_iter()
                .find(|name| {
                    host::environment().iter().any(|(set, to)| set == name && to != "/dev/null")
                })
        {
            return Err(format!(
                "{name} is set, and nginx would load what it names outside of the cage: unset it"
            ));
        }
        let said = File::create(directory.path().join("said"))
            .map_err(|e| trouble("cannot write beside nginx", e))?;
        let wrong = |e: std::io::Error| trouble("cannot start nginx", e);
        let own = std::env::current_exe().map_err(wrong)?;
        let master = engine::doctor::quietly::kept(&own, cpu, facts.path.as_ref())
            .arg("-p")
            .arg(directory.path())
            .arg("-c")
            .arg(&place)
            .arg("-e")
            .arg(directory.path().join("error.log"))
            .env_clear()
            .envs(host::environment())
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .map_err(wrong)?;
        let mut nginx = Self { master, worker: 0, ports, configuration, directory, _held: held };
        nginx.worker = nginx.wait_for_worker()?;
        Ok(nginx)
    }

    pub fn cpu(&self) -> Cpu {
        Cpu::of(self.worker)
    }

    /// The TLS library that its worker has loaded.
    pub fn libraries(&self) -> Result<Libraries, String> {
        let loaded = host::loaded_objects_of(self.worker)
            .map_err(|e| trouble("cannot see what nginx has loaded", e))?;
        let [ssl, crypto] = ["libssl", "libcrypto"].map(|name| {
            let is_it =
                |f: &&PathBuf| f.file_name().is_some_and(|f| f.to_string_lossy().starts_with(name));
            loaded.iter().find(is_it).cloned()
        });
        let inside =
            || "this nginx has its TLS library inside: it cannot be loaded apart".to_owned();
        ssl.zip(crypto).map(|(ssl, crypto)| Libraries { ssl, crypto }).ok_or_else(inside)
    }

    /// Its configuration without what is of this run only: the directory and the ports.
    pub fn shown_configuration(&self) -> String {
        let place = self.directory.path().display().to_string();
        let mut text = self.configuration.replace(&place, "DIRECTORY");
        for (at, port) in self.ports.iter().enumerate() {
            text = text.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:PORT{at}"));
        }
        text
    }

    pub fn worker(&self) -> u32 {
        self.worker
    }

    fn wait_for_worker(&mut self) -> Result<u32, String> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Ok(Some(_)) = self.master.try_wait() {
                return Err(format!("nginx ended: {}", self.last_words()));
            }
            let listens = self.ports.iter().all(|p| TcpStream::connect(("127.0.0.1", *p)).is_ok());
            if let (true, Some(worker)) = (listens, child_of(self.master.id())) {
                return Ok(worker);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("nginx does not listen: {}", self.last_words()))
    }

    fn last_words(&self) -> String {
        let read =
            |name: &str| fs::read_to_string(self.directory.path().join(name)).unwrap_or_default();
        let said = read("error.log") + &read("said");
        let line = said.lines().find(|l| l.contains("[emerg]")).or_else(|| said.lines().last());
        line.unwrap_or("it says nothing").to_owned()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // At once (nginx, "Controlling nginx"): the master ends its worker and then itself.
        if let Some(pid) = i32::try_from(self.master.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let begun = Instant::now();
        while matches!(self.master.try_wait(), Ok(None)) {
            if begun.elapsed() > PATIENCE {
                drop(self.master.kill());
                drop(self.master.wait());
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What directories' names begin with; the measuring process's number comes next.
const PREFIX: &str = "ciphermark-nginx-";

/// Removes what processes left behind that were killed: nginx ends with them, its directory does not.
fn sweep() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner =
            name.to_str().and_then(|n| n.strip_prefix(PREFIX)).and_then(|n| n.split_once('-'));
        let is_left = owner.is_some_and(|(pid, _)| {
            pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists()
        });
        // Another container's processes have numbers of their own: the lock says whether one is in use.
        if is_left && hold(&entry.path()).is_ok() {
            // Another user's stays where it is.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn hold(directory: &Path) -> std::io::Result<File> {
    let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::NOFOLLOW;
    let directory =
        File::options().read(true).custom_flags(flags.bits().cast_signed()).open(directory)?;
    directory.try_lock()?;
    Ok(directory)
}

/// A directory for nobody else, with a file of each size, and its lock.
fn prepare(files: &[u64]) -> std::io::Result<(TempDir, File)> {
    sweep();
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let directory = tempfile::Builder::new().prefix(&prefix).tempdir()?;
    let held = hold(directory.path())?;
    let files_in = directory.path().join("files");
    DirBuilder::new().mode(0o700).create(&files_in)?;
    DirBuilder::new().mode(0o700).create(directory.path().join("keys"))?;
    for bytes in files {
        let mut file = File::create(files_in.join(bytes.to_string()))?;
        std::io::copy(&mut std::io::repeat(FILLER).take(*bytes), &mut file)?;
        file.flush()?;
    }
    Ok((directory, held))
}

/// Held open together, so that they differ.
fn free_ports(count: usize) -> std::io::Result<Vec<u16>> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind(("127.0.0.1", 0))).collect::<Result<_, _>>()?;
    listeners.iter().map(|l| Ok(l.local_addr()?.port())).collect()
}

/// The first process whose parent is this one.
fn child_of(parent: u32) -> Option<u32> {
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let (name, behind_its_state) = (entry.file_name(), 1);
        let of = host::stat_field::<u32>(name.to_str()?, behind_its_state)?;
        (of == parent).then(|| name.to_str()?.parse().ok())?
    })
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// None is plain HTTP.
    pub tls: Option<SiteTls>,
    /// HTTP/2, which clients of plain HTTP begin without asking (RFC 9113 3.3).
    pub http2: bool,
    /// Whether files go from the file to the socket in the kernel.
    pub sendfile: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SiteTls {
    pub certificate: Certificate,
    /// Its file of DH parameters, where the key exchange needs one.
    pub dh: Option<Exchange>,
    /// The only group that it takes; where there is none, those that its library has unset.
    pub group: Option<Exchange>,
    pub sessions: Sessions,
    /// Most bytes of data in a record (`ssl_buffer_size`).
    pub record_bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sessions {
    /// By tickets, without a cache: as nginx does it where nothing is said.
    Tickets,
    /// By a cache that its workers share, without tickets.
    Cache,
}

fn config_text(
    directory: &Path,
    sites: &[Site],
    ports: &[u16],
    environment: &[(String, String)],
) -> String {
    let place = directory.display();
    let mut out = String::new();
    out.push_str("daemon off;\nworker_processes 1;\n");
    if rustix::process::getuid().is_root() {
        // Else the worker would become another user, who must not read this directory.
        out.push_str("user root;\n");
    }
    let _ = writeln!(out, "pid {place}/pid;\nerror_log {place}/error.log warn;");
    for (name, _) in environment {
        let _ = writeln!(out, "env {name};");
    }
    out.push_str("events { worker_connections 1024; }\nhttp {\n");
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        let _ = writeln!(out, "  {kind}_temp_path {place}/{kind};");
    }
    out.push_str(
        "  access_log off;\n  default_type application/octet-stream;\n  tcp_nopush on;\n  tcp_nodelay on;\n  \
         keepalive_timeout 300s;\n  keepalive_requests 10000000;\n",
    );
    for (at, (site, port)) in sites.iter().zip(ports).enumerate() {
        server(&mut out, directory, at, site, *port);
    }
    out.push_str("}\n");
    out
}

fn server(out: &mut String, directory: &Path, at: usize, site: &Site, port: u16) {
    let place = directory.display();
    let words = [(site.tls.is_some(), " ssl"), (site.http2, " http2")];
    let words: String = words.iter().filter(|(wanted, _)| *wanted).map(|(_, word)| *word).collect();
    let _ = writeln!(
        out,
        "  server {{\n    listen 127.0.0.1:{port}{words};\n    server_name localhost;"
    );
    let _ = writeln!(out, "    root {place}/files;\n    sendfile {};", on(site.sendfile));
    if let Some(tls) = &site.tls {
        let name = tls.certificate.name();
        let _ = writeln!(
            out,
            "    ssl_certificate {place}/keys/{name}.chain.pem;\n    ssl_certificate_key {place}/keys/{name}.key.pem;\n    \
             ssl_protocols TLSv1.2 TLSv1.3;\n    ssl_buffer_size {};\n    ssl_prefer_server_ciphers off;",
            tls.record_bytes,
        );
        if let Some(dh) = tls.dh {
            let _ = writeln!(out, "    ssl_dhparam {place}/keys/{dh}.pem;");
        }
        if let Some(group) = tls.group.and_then(Exchange::group).and_then(Group::openssl) {
            let _ = writeln!(out, "    ssl_ecdh_curve {group};");
        }
        let (cache, tickets) = match tls.sessions {
            Sessions::Tickets => ("none".to_owned(), true),
            Sessions::Cache => (format!("shared:site{at}:1m"), false),
        };
        let _ = writeln!(
            out,
            "    ssl_session_cache {cache};\n    ssl_session_tickets {};",
            on(tickets)
        );
    }
    out.push_str("  }\n");
}

fn on(yes: bool) -> &'static str {
    if yes { "on" } else { "off" }
}

fn write_keys(directory: &Path, sites: &[Site]) -> std::io::Result<()> {
    let place = directory.join("keys");
    for tls in sites.iter().filter_map(|site| site.tls.as_ref()) {
        let (keys, name) = (keys(tls.certificate), tls.certificate.name());
        write(&place.join(format!("{name}.chain.pem")), keys.chain)?;
        write(&place.join(format!("{name}.key.pem")), keys.key)?;
        if let Some((dh, pem)) = tls.dh.and_then(|dh| Some((dh, dh_parameters(dh)?))) {
            write(&place.join(format!("{dh}.pem")), pem)?;
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_that_it_runs_with_is_the_one_that_counts() {
        let said = "built with OpenSSL 3.0.20 7 Apr 2026 (running with OpenSSL 3.0.22 25 Aug 2026)";
        assert_eq!(tls_library(said).as_deref(), Some("OpenSSL 3.0.22 25 Aug 2026"));
        let said = "built with OpenSSL 3.5.1 1 Jul 2025";
        assert_eq!(tls_library(said).as_deref(), Some("OpenSSL 3.5.1 1 Jul 2025"));
    }

    #[test]
    fn ports_differ_and_files_have_their_sizes() {
        let mut ports = free_ports(5).unwrap();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 5);
        let (directory, _held) = prepare(&[0, 70_000]).unwrap();
        let left = std::env::temp_dir().join(format!("{PREFIX}{}-left", u32::MAX));
        fs::create_dir_all(&left).unwrap();
        // One of a process that has this number elsewhere.
        let others = std::env::temp_dir().join(format!("{PREFIX}{}-others", u32::MAX));
        fs::create_dir_all(&others).unwrap();
        let in_use = hold(&others).unwrap();
        sweep();
        assert!(!left.exists() && directory.path().exists() && others.exists());
        drop(in_use);
        sweep();
        assert!(!others.exists());
        let file = fs::read(directory.path().join("files/70000")).unwrap();
        assert!(file.len() == 70_000 && file.iter().all(|b| *b == FILLER));
    }

    #[test]
    fn a_child_is_found_by_its_parent() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let found = child_of(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        // Other tests have children of their own at the same time.
        assert!(found.is_some());
        assert_eq!(child_of(u32::MAX), None);
    }

    #[test]
    fn a_site_says_what_it_changes_and_all_else_is_nginxs_own() {
        let plain = Site { tls: None, http2: true, sendfile: false };
        let tls = SiteTls {
            certificate: Certificate::Rsa2048,
            dh: Some(Exchange::OwnDh2048),
            group: None,
            sessions: Sessions::Cache,
            record_bytes: 4096,
        };
        let secure = Site { tls: Some(tls.clone()), http2: false, sendfile: true };
        let tls = SiteTls { group: Some(Exchange::P256), ..tls };
        let picky = Site { tls: Some(tls), http2: false, sendfile: true };
        let environment = [("OPENSSL_ia32cap".to_owned(), "~0x1".to_owned())];
        let with =
            |sites: &[Site]| config_text(Path::new("/d"), sites, &[4001, 4002], &environment);
        assert!(with(&[picky]).contains("ssl_ecdh_curve P-256;"));
        let both = with(&[plain, secure]);
        for line in [
            "env OPENSSL_ia32cap;",
            "listen 127.0.0.1:4001 http2;",
            "listen 127.0.0.1:4002 ssl;",
            "ssl_certificate /d/keys/rsa-2048.chain.pem;",
            "ssl_dhparam /d/keys/own-dh-2048.pem;",
            "ssl_session_cache shared:site1:1m;",
            "ssl_session_tickets off;",
            "ssl_buffer_size 4096;",
            "access_log off;",
        ] {
            assert!(both.contains(line), "{line} is not in\n{both}");
        }
        assert!(!both.contains("ssl_ciphers") && !both.contains("ssl_ecdh_curve"), "{both}");
        assert_eq!(both.matches('{').count(), both.matches('}').count());
    }
}
