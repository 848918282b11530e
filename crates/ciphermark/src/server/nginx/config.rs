//! nginx's configuration, as text: what every installation has, and what a site changes.

use adapters::stacks::{dh_parameters, keys};
use record::tls::{Certificate, Exchange, Group};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// One port of nginx.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// None is plain HTTP.
    pub tls: Option<SiteTls>,
    /// HTTP/2, which clients of plain HTTP begin without asking (RFC 9113 3.3).
    pub http2: bool,
    /// Whether files go from the file to the socket in the kernel.
    pub sendfile: bool,
}

/// How a site speaks TLS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SiteTls {
    /// Its certificate.
    pub certificate: Certificate,
    /// Its file of DH parameters, where the key exchange needs one.
    pub dh: Option<Exchange>,
    /// The only group that it takes; where there is none, those that its library has unset.
    pub group: Option<Exchange>,
    /// How sessions are resumed.
    pub sessions: Sessions,
    /// Most bytes of data in a record (`ssl_buffer_size`).
    pub record_bytes: u32,
}

/// How sessions are resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sessions {
    /// By tickets, without a cache: as nginx does it where nothing is said.
    Tickets,
    /// By a cache that its workers share, without tickets.
    Cache,
}

/// The whole file.
pub(super) fn text(
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

/// Writes the keys and parameters that the sites name.
pub(super) fn write_keys(directory: &Path, sites: &[Site]) -> std::io::Result<()> {
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
        let with = |sites: &[Site]| text(Path::new("/d"), sites, &[4001, 4002], &environment);
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
