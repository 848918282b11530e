//! Record files: read with clear errors, packed or not, whatever their bytes are; written so that they are
//! at every moment either the old one or the new one, whole.

use crate::format::contradiction;
use crate::json::{explain, parsed, printable, unmarked};
use crate::{FORMAT_VERSION, Record, to_json};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{
    FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Why a record could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be opened or read.
    #[error("cannot read record '{path}': {source}")]
    Read { path: PathBuf, source: io::Error },
    /// The file cannot be written.
    #[error("cannot write record '{path}': {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("'{origin}' is not a ciphermark record: {why}")]
    Malformed {
        /// Where the text came from.
        origin: String,
        why: String,
    },
    #[error("'{origin}' is {what}")]
    Another {
        /// Where the text came from.
        origin: String,
        what: &'static str,
    },
    /// The record is of a version that this program does not read.
    #[error(
        "'{origin}' has record format {found}; this program reads {FORMAT_VERSION} and its minor versions"
    )]
    Version {
        /// Where the text came from.
        origin: String,
        found: String,
    },
    /// The journal of a run cannot be gone on from.
    #[error("cannot use journal '{path}': {why}")]
    Journal { path: PathBuf, why: String },
    #[error("another run is writing to '{record}': wait for it, or name another file")]
    Held { record: PathBuf },
    /// A run to the same record was cut short.
    #[error(
        "a run to '{record}' was cut short: resume it with `--resume {record}`, or remove '{path}'"
    )]
    CutShort { record: PathBuf, path: PathBuf },
}

/// Whether a record could be written to this path: its directory must take new files. What is no
/// regular file is written to as it stands, so there the directory does not matter.
pub fn check_writable(path: &Path) -> Result<(), RecordError> {
    writable(path).map_err(|source| RecordError::Write { path: path.to_owned(), source })
}

/// Writes a record, packed by gzip where the name ends in `.gz`, so that the file is at every moment either the old one or the new one whole.
/// What is no regular file (a pipe, a terminal, `/dev/stdout`) is written to as it stands.
///
/// # Errors
/// [`RecordError::Write`]; an old file is then untouched.
pub fn save(record: &Record, path: &Path) -> Result<(), RecordError> {
    let error = |source| RecordError::Write { path: path.to_owned(), source };
    let bytes = pack(path, to_json(record)).map_err(error)?;
    write_file(path, &bytes).map_err(error)
}

// Reading a record: bytes that anybody may have written, into a record or one line.

/// Most bytes of a file that are read: more than any survey has, and an end where a device has none.
const MOST_BYTES: u64 = 1 << 30;

/// Reads a record file, packed by gzip or not.
pub fn load(path: &Path) -> Result<Record, RecordError> {
    from_json(&load_text(path)?, &path.display().to_string())
}

/// A record file's text, unpacked, of whichever kind of record it is.
pub fn load_text(path: &Path) -> Result<String, RecordError> {
    text(bytes(path)?, &path.display().to_string())
}

/// A file's content as it is, up to 1 GiB: a device has no end.
pub fn bytes(path: &Path) -> Result<Vec<u8>, RecordError> {
    read(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = read_most(path, MOST_BYTES)?;
    bytes.ok_or_else(|| io::Error::other("it has more than 1 GiB"))
}

/// How long a pipe may be silent: what fills it may have to measure first.
const PIPE_PATIENCE: Duration = Duration::from_secs(600);

/// A file's content as it is; none where it has more than so many bytes. A pipe that stays silent is given up.
///
/// # Errors
/// The system's reason, or that nothing came.
pub fn read_most(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    read_patiently(path, most, PIPE_PATIENCE)
}

fn read_patiently(path: &Path, most: u64, patience: Duration) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut file =
        File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() > most {
        return Ok(None);
    }
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    let timeout = patience.try_into().map_err(io::Error::other)?;
    loop {
        match poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => {
                let why = format!("nothing came within {} s", patience.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            Err(Errno::INTR) => continue,
            other => other?,
        };
        match file.read(&mut chunk) {
            Ok(0) => return Ok(Some(bytes)),
            Ok(read) if (bytes.len() + read) as u64 > most => return Ok(None),
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
            Err(e)
                if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
    }
}

/// Opens a regular file to be read, and nothing else: a pipe would be waited for, a device has no end.
///
/// # Errors
/// The system's reason, or that it is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no regular file")),
    }
}

/// Reads a record from a file's content, packed by gzip or not; `origin` names it in errors.
pub fn from_bytes(bytes: Vec<u8>, origin: &str) -> Result<Record, RecordError> {
    from_json(&text(bytes, origin)?, origin)
}

/// A file's content, packed by gzip or not, as text; `origin` names it in errors.
pub fn text(bytes: Vec<u8>, origin: &str) -> Result<String, RecordError> {
    let malformed = |why| RecordError::Malformed { origin: origin.to_owned(), why };
    let bytes = unpack(bytes).map_err(|e| malformed(format!("it cannot be unpacked: {e}")))?;
    String::from_utf8(bytes).map_err(|e| {
        malformed(format!("it is not text (byte {} is not UTF-8)", e.utf8_error().valid_up_to()))
    })
}

/// Reads a record from JSON; `origin` names it in errors.
pub fn from_json(text: &str, origin: &str) -> Result<Record, RecordError> {
    #[derive(serde::Deserialize)]
    struct Head {
        format_version: String,
        kind: Option<String>,
    }
    let malformed = |why: String| RecordError::Malformed { origin: origin.to_owned(), why };
    let text = unmarked(text);
    // The version first: what follows may be of any other shape in another major version.
    let head: Head = serde_json::from_str(text).map_err(|e| malformed(explain("", &e)))?;
    if let Some(what) = head.kind.as_deref().and_then(another) {
        return Err(RecordError::Another { origin: origin.to_owned(), what });
    }
    if major(&head.format_version) != major(FORMAT_VERSION) {
        let found = printable(&head.format_version);
        return Err(RecordError::Version { origin: origin.to_owned(), found });
    }
    let mut record: Record = parsed(text).map_err(malformed)?;
    contradiction(&record).map_err(malformed)?;
    crate::format::bring(&mut record);
    Ok(record)
}

/// What a file of this program holds that is no record.
fn another(kind: &str) -> Option<&'static str> {
    match kind {
        "tls-calibration" => Some(
            "a calibration of TLS servers, not a record of cases: `ciphermark tls load --calibration FILE` reads it, \
             and so do `tls why` and `advise --for tls-server`",
        ),
        "tls-validation" => Some(
            "a validation of predicted TLS load, not a record of cases: `ciphermark tls load --validate -o FILE` shows it and measures what it lacks",
        ),
        _ => None,
    }
}

/// The kind that a document of its own from before format 1.4 names: `pages`, `tls-handshakes`, …; none of a record.
pub fn older_kind(text: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Head {
        kind: Option<String>,
    }
    serde_json::from_str::<Head>(unmarked(text)).ok()?.kind
}

fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or(version)
}

/// What any program's new file gets; the process's mask takes bits away.
const NEW_FILE: u32 = 0o666;

/// Why a file cannot be written here; nothing is left behind by asking.
pub(crate) fn writable(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(old) if old.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // What is no regular file is written to as it stands: its directory does not matter.
        Ok(old) if !old.is_file() => Ok(()),
        // Through links, as writing does.
        Ok(_) => path.canonicalize().and_then(|target| takes_new_files(directory_of(&target))),
        Err(_) => takes_new_files(directory_of(path)),
    }
}

fn takes_new_files(directory: &Path) -> io::Result<()> {
    // Without a name, where the file system can: a process that is killed here leaves none.
    tempfile::tempfile_in(directory).map(drop).map_err(plain)
}

pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether this open file is the one of that name.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let of = |m: Metadata| (m.dev(), m.ino());
    let (open, named) = (file.metadata().map(of), std::fs::symlink_metadata(path).map(of));
    open.is_ok_and(|open| named.is_ok_and(|named| open == named))
}

/// So that a new name survives a power cut too; not every file system can do this.
pub(crate) fn sync_directory(directory: &Path) {
    let _ = File::open(directory).and_then(|d| d.sync_all());
}

/// Writes a file so that it is at every moment either the old one or the new one whole. What is no
/// regular file (a pipe, a terminal, `/dev/stdout`) is written to as it stands.
///
/// The new one is written as `.NAME.ciphermark-new` beside the old one, forced to the disk, and
/// renamed. A process that is killed in the middle leaves that file; the next that writes to the same
/// name takes it over.
///
/// # Errors
/// The system's reason; an old file is then untouched.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match std::fs::metadata(path) {
        // Through links, so that a link stays one.
        Ok(old) if old.is_file() => replace(&path.canonicalize()?, bytes, Some(old.permissions())),
        Ok(old) => write_through(path, &old, bytes),
        Err(e) if e.kind() == io::ErrorKind::NotFound => replace(path, bytes, None),
        Err(e) => Err(e),
    }
}

fn replace(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    match Fresh::beside(path, permissions.is_some())? {
        Some(fresh) => fresh.become_file(path, bytes, permissions)?,
        None => replace_by_random_name(path, bytes, permissions)?,
    }
    sync_directory(directory_of(path));
    Ok(())
}

/// A new file beside the one that it is to replace, removed unless it does.
struct Fresh {
    path: PathBuf,
    file: File,
    renamed: bool,
}

impl Fresh {
    /// None where that name cannot be had: another process is writing it, or it is a stranger's. `closed`: nobody else
    /// opens it, though its mode is given later.
    fn beside(path: &Path, closed: bool) -> io::Result<Option<Self>> {
        let Some(last) = path.file_name() else { return Ok(None) };
        let mut name = OsString::from(".");
        name.push(last);
        name.push(".ciphermark-new");
        let path = directory_of(path).join(name);
        let mut options = File::options();
        options.read(true).write(true).mode(if closed { 0o600 } else { NEW_FILE });
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        let begun = || {
            match options.clone().create_new(true).open(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                opened => return opened.map(Some),
            }
            // What a killed process left may be open elsewhere: it goes.
            let left = options.open(&path)?;
            if !is_free(&left, &path)? {
                return Ok(None);
            }
            std::fs::remove_file(&path)?;
            options.clone().create_new(true).open(&path).map(Some)
        };
        let file = match begun() {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            Err(e) if e.raw_os_error().is_some_and(of_the_name) => return Ok(None),
            Err(e) => return Err(e),
        };
        // Only then it is this one's to remove.
        let held = is_free(&file, &path)?;
        Ok(held.then(|| Self { path, file, renamed: false }))
    }

    fn become_file(
        mut self,
        path: &Path,
        bytes: &[u8],
        permissions: Option<Permissions>,
    ) -> io::Result<()> {
        self.file.set_len(0)?;
        if let Some(permissions) = permissions {
            self.file.set_permissions(permissions)?;
        }
        self.file.write_all(bytes)?;
        self.file.sync_all()?;
        std::fs::rename(&self.path, path)?;
        self.renamed = true;
        Ok(())
    }
}

/// Whether the open file is this user's own under that name and nobody writes it; it is locked then until it is closed: a
/// second process would write into the middle of it.
fn is_free(file: &File, path: &Path) -> io::Result<bool> {
    // In a directory where others write too, the name may be a trap: a second name of a file
    // that is to be overwritten.
    let found = file.metadata()?;
    let own =
        found.is_file() && found.nlink() == 1 && found.uid() == rustix::process::geteuid().as_raw();
    Ok(own && file.try_lock().is_ok() && is_at(file, path))
}

/// Whether an error is of the name alone, so that another may do: a link, a name that is too long, a
/// file of somebody else's.
fn of_the_name(code: i32) -> bool {
    [Errno::LOOP, Errno::NAMETOOLONG, Errno::ACCESS, Errno::PERM, Errno::EXIST]
        .contains(&Errno::from_raw_os_error(code))
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn replace_by_random_name(
    path: &Path,
    bytes: &[u8],
    permissions: Option<Permissions>,
) -> io::Result<()> {
    let permissions = permissions.unwrap_or_else(|| Permissions::from_mode(NEW_FILE));
    let mut file = tempfile::Builder::new()
        .prefix(".ciphermark-")
        .permissions(permissions)
        .tempfile_in(directory_of(path))
        .map_err(plain)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// `tempfile` adds the temporary file's path, which nobody asked for.
fn plain(error: io::Error) -> io::Error {
    error.raw_os_error().map_or(io::Error::from(error.kind()), io::Error::from_raw_os_error)
}

fn write_through(path: &Path, old: &Metadata, bytes: &[u8]) -> io::Result<()> {
    if old.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    write_patiently(path, bytes, PIPE_PATIENCE)
}

fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.file_type().is_fifo())
}

/// Writes to what is no regular file. A pipe that nobody reads is given up.
fn write_patiently(path: &Path, mut bytes: &[u8], patience: Duration) -> io::Result<()> {
    let timed_out = || {
        let why = format!("nobody read it within {} s", patience.as_secs());
        io::Error::new(io::ErrorKind::TimedOut, why)
    };
    let begun = Instant::now();
    let mut file = loop {
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        match File::options().write(true).custom_flags(flags.bits().cast_signed()).open(path) {
            // A pipe's reader may come later; a socket takes no file's bytes.
            Err(e) if Errno::from_io_error(&e) == Some(Errno::NXIO) && is_pipe(path) => {
                if begun.elapsed() >= patience {
                    return Err(timed_out());
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            opened => break opened?,
        }
    };
    let timeout = patience.try_into().map_err(io::Error::other)?;
    while !bytes.is_empty() {
        match poll(&mut [PollFd::new(&file, PollFlags::OUT)], Some(&timeout)) {
            Ok(0) => return Err(timed_out()),
            Err(Errno::INTR) => continue,
            other => other?,
        };
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

// Records in gzip files: a survey's raw samples take a tenth of the room.

/// What every gzip file begins with (RFC 1952 §2.3.1).
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Most bytes that are unpacked: some fifty times the largest survey, so that a few kilobytes of
/// zeroes, packed, do not fill the memory.
const MOST_UNPACKED: u64 = 1 << 30;

/// The text as it goes into a file of this name: packed where the name ends in `.gz`.
pub fn pack(path: &Path, text: String) -> io::Result<Vec<u8>> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(text.into_bytes());
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(text.as_bytes())?;
    packed.finish()
}

/// A file's text, unpacked where it is packed, whatever its name.
pub(crate) fn unpack(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if bytes.starts_with(&MAGIC) { unpack_at_most(&bytes, MOST_UNPACKED) } else { Ok(bytes) }
}

/// Unpacks what gzip packed, unless it is more than so many bytes: it may be anybody's.
pub(crate) fn unpack_at_most(packed: &[u8], most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    MultiGzDecoder::new(packed).take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is more than {} MiB unpacked", most >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{load, *};
    use crate::{Measurement, State, sample, to_json};
    use base::text::fixtures::says;
    use std::fs::Permissions;

    /// An empty directory, and a file's place in it.
    fn place(name: &str) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        (directory, path)
    }

    fn pipe() -> (tempfile::TempDir, PathBuf) {
        let (directory, path) = place("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        (directory, path)
    }

    #[test]
    fn a_file_in_a_missing_or_unwritable_place_is_refused_by_name() {
        for path in ["/no/such/directory/r.json", "/proc/r.json"] {
            let why = save(&sample::record(), Path::new(path)).unwrap_err().to_string();
            assert!(why.starts_with(&format!("cannot write record '{path}': ")), "{why}");
            assert!(!why.contains(".ciphermark-"), "{why}");
            assert_eq!(check_writable(Path::new(path)).unwrap_err().to_string(), why);
        }
    }

    #[test]
    fn whether_a_record_can_be_written_is_known_before_and_leaves_no_trace() {
        let directory = tempfile::tempdir().unwrap();
        check_writable(&directory.path().join("r.json")).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        check_writable(Path::new("/dev/null")).unwrap();
        let why = check_writable(directory.path()).unwrap_err().to_string();
        assert!(why.ends_with("is a directory"), "{why}");
    }

    #[test]
    fn a_save_that_fails_leaves_everything_as_it_was() {
        let (directory, taken) = place("r.json");
        std::fs::create_dir(&taken).unwrap();
        std::fs::write(taken.join("inside"), "old").unwrap();
        says(save(&sample::record(), &taken).unwrap_err().to_string(), ["is a directory"]);
        assert_eq!(std::fs::read_to_string(taken.join("inside")).unwrap(), "old");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_old_file_is_kept_when_its_directory_is_not_writable() {
        let (directory, path) = place("r.json");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(directory.path(), Permissions::from_mode(0o555)).unwrap();
        let saved = save(&sample::record(), &path);
        std::fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        match saved {
            // A privileged user may write everywhere: then the new file must be there whole.
            Ok(()) => assert_eq!(text, to_json(&sample::record())),
            Err(e) => {
                assert!(e.to_string().contains("r.json"), "{e}");
                assert_eq!(text, "old");
            }
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_new_file_is_readable_by_others_and_an_old_one_keeps_its_permissions() {
        let directory = tempfile::tempdir().unwrap();
        let mode = |p: &Path| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
        let (new, plain) = (directory.path().join("new.json"), directory.path().join("plain"));
        save(&sample::record(), &new).unwrap();
        std::fs::write(&plain, "").unwrap();
        assert_eq!(mode(&new), mode(&plain));
        std::fs::set_permissions(&new, Permissions::from_mode(0o640)).unwrap();
        save(&sample::record(), &new).unwrap();
        assert_eq!(mode(&new), 0o640);
    }

    #[test]
    fn a_link_stays_a_link_and_a_device_stays_a_device() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        save(&sample::record(), &link).unwrap();
        assert!(link.is_symlink());
        assert_eq!(load(&file).unwrap(), sample::record());

        let null = directory.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        save(&sample::record(), &null).unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }

    fn why(text: &str) -> String {
        from_json(text, "r.json").unwrap_err().to_string()
    }

    #[test]
    fn another_file_of_this_program_is_called_by_its_name() {
        let why = why(r#"{"format_version": "1.0", "kind": "tls-calibration"}"#);
        assert!(why.starts_with("'r.json' is a calibration of TLS servers"), "{why}");
    }

    #[test]
    fn another_major_version_is_refused_by_name_and_a_minor_one_is_read() {
        let text = to_json(&sample::record());
        let version = |v: &str| text.replacen("\"1.6\"", &format!("\"{v}\""), 1);
        assert_eq!(
            why(&version("2.0")),
            "'r.json' has record format 2.0; this program reads 1.6 and its minor versions"
        );
        assert!(why(&version("10.0")).contains("record format 10.0"));
        let newer = version("1.7").replacen("\"tool\"", "\"not_known_yet\": [1], \"tool\"", 1);
        assert_eq!(from_json(&newer, "r.json").unwrap().format_version, "1.7");
    }

    #[test]
    fn what_is_no_record_gets_one_line_with_the_place() {
        assert_eq!(
            why("# not JSON"),
            "'r.json' is not a ciphermark record: expected value at line 1 column 1"
        );
        assert!(why("{}").contains("missing field `format_version`"));
        let text = to_json(&sample::record());
        let broken = text.replacen("\"size\":8192", "\"size\":\"a\\nb\\u001b[31m\"", 1);
        let line = 1 + text[..text.find("\"size\":8192").unwrap()].matches('\n').count();
        let why = why(&broken);
        says(
            &why,
            ["measurements[0].size: invalid type: string", &format!("at line {line} column ")],
        );
        assert!(!why.contains(char::is_control), "{why:?}");
    }

    #[test]
    fn a_record_cut_off_anywhere_is_refused() {
        let text = to_json(&sample::record());
        assert!(why("").contains("it ends too early, at line 1 column 0"));
        for cut in (0..text.trim_end().len()).step_by(97) {
            let why = why(&text[..cut]);
            // A number that is cut off after its point is called an invalid number.
            let named = ["it ends too early, at line ", "invalid number at line "];
            assert!(named.iter().any(|n| why.contains(n)), "{cut}: {why}");
        }
        let packed = pack(Path::new("r.json.gz"), text).unwrap();
        for cut in (0..packed.len()).step_by(7) {
            let why = from_bytes(packed[..cut].to_vec(), "r.json.gz").unwrap_err().to_string();
            assert!(!why.contains(char::is_control), "{cut}: {why:?}");
        }
    }

    #[test]
    fn a_file_comes_back_packed_or_not_over_a_longer_one_and_however_its_lines_end() {
        let directory = tempfile::tempdir().unwrap();
        let (older, mut newer) = (sample::record(), sample::record());
        newer.measurements.truncate(1);
        for (name, is_packed) in [("r.json", false), ("r.json.gz", true)] {
            let path = directory.path().join(name);
            for record in [&older, &newer] {
                save(record, &path).unwrap();
                assert_eq!(&load(&path).unwrap(), record, "{name}");
            }
            assert_eq!(std::fs::read(&path).unwrap().starts_with(&[0x1f, 0x8b]), is_packed);
        }
        let marked = format!("\u{feff}{}", to_json(&newer)).replace('\n', "\r\n");
        assert_eq!(from_bytes(marked.into_bytes(), "r.json").unwrap(), newer);
    }

    #[test]
    fn records_that_contradict_themselves_are_refused() {
        let refused = |change: &dyn Fn(&mut Vec<Measurement>), words: &str| {
            let mut record = sample::record();
            change(&mut record.measurements);
            says(why(&to_json(&record)), [words]);
            record
        };
        refused(&|all| all[0].raw.clean.clear(), "measurements[0]: the arrays in `raw` differ");
        refused(&|all| all[2].state = State::Measured, "'measured' but it lacks `ns_per_op`");
        refused(&|all| all[0].state = State::Refused, "'refused' but it has `ns_per_op`");
        let imported = |all: &mut Vec<Measurement>| all[0].state = State::Imported;
        refused(&imported, "'imported' but it lacks `imported`");
        let sourced = |all: &mut Vec<Measurement>| {
            imported(all);
            let (source, machine) = ("a blog".to_owned(), None);
            all[0].imported = Some(crate::Imported { source, machine });
        };
        let mut record = refused(&sourced, "'imported' but it claims `checks`");
        record.measurements[0].checks.clear();
        assert_eq!(from_json(&to_json(&record), "r.json").unwrap(), record);
    }

    #[test]
    fn what_is_quoted_of_a_file_has_an_end_and_the_place_is_still_told() {
        let text = to_json(&sample::record());
        let long = format!("\"size\":\"{}\"", "x".repeat(1 << 20));
        let why = why(&text.replacen("\"size\":8192", &long, 1));
        says(&why, ["… at line "]);
        assert!(why.chars().count() < 500, "{} characters", why.len());
    }

    #[test]
    fn depth_repetition_and_numbers_beyond_all_bounds_are_one_line() {
        let text = to_json(&sample::record());
        let deep = "[".repeat(1 << 20);
        let (tool, size) = ("\"tool\"", "\"size\":8192");
        for (is, becomes, word) in [
            (&*text, &*deep, "invalid type: sequence"),
            (tool, &format!("\"deep\": {deep}, \"tool\""), "expected value"),
            (tool, "\"started\": \"\", \"tool\"", "duplicate field `started`"),
            (size, "\"size\":-1", "measurements[0].size: invalid value"),
            (size, "\"size\":1e400", "number out of range"),
            (size, "\"size\":NaN", "expected value"),
            ("{", "{\0", "key must be a string"),
        ] {
            let why = why(&text.replacen(is, becomes, 1));
            assert!(why.contains(word) && !why.contains(char::is_control), "{word}: {why}");
        }
    }

    fn names(directory: &Path) -> Vec<OsString> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|e| e.unwrap().file_name()).collect()
    }

    #[test]
    fn what_a_killed_process_left_is_taken_over() {
        let (directory, path) = place("r.json");
        let left = directory.path().join(".r.json.ciphermark-new");
        std::fs::write(&left, "half of a much longer rec").unwrap();
        write_file(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["r.json"]);
    }

    #[test]
    fn a_process_that_writes_the_same_file_is_not_disturbed() {
        let (directory, path) = place("r.json");
        let first = Fresh::beside(&path, false).unwrap().unwrap();
        write_file(&path, b"second").unwrap();
        first.become_file(&path, b"first", None).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(names(directory.path()), ["r.json"]);
    }

    #[test]
    fn a_trap_under_the_new_files_name_is_not_walked_into() {
        let (directory, path) = place("r.json");
        let (victim, trap) =
            (directory.path().join("victim"), directory.path().join(".r.json.ciphermark-new"));
        std::fs::write(&victim, "precious").unwrap();
        for set in
            [std::os::unix::fs::symlink, |from: &Path, to: &Path| std::fs::hard_link(from, to)]
        {
            set(&victim, &trap).unwrap();
            write_file(&path, b"new").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"new");
            assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
            std::fs::remove_file(&trap).unwrap();
        }
    }

    #[test]
    fn what_is_for_its_owner_alone_is_never_open_to_others_while_it_is_written() {
        let (directory, path) = place("calls.json");
        let left = directory.path().join(".calls.json.ciphermark-new");
        std::fs::write(&left, "of a killed process").unwrap();
        std::fs::set_permissions(&left, Permissions::from_mode(0o644)).unwrap();
        let before = left.metadata().unwrap().ino();
        let fresh = Fresh::beside(&path, true).unwrap().unwrap();
        let now = fresh.file.metadata().unwrap();
        assert_eq!(now.mode() & 0o077, 0);
        assert_ne!(now.ino(), before, "another user may have opened that one");
    }

    #[test]
    fn a_write_that_fails_leaves_nothing_behind() {
        let (directory, path) = place("r.json");
        let fresh = Fresh::beside(&path, false).unwrap().unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(fresh.become_file(&path, b"new", None).is_err());
        assert_eq!(names(directory.path()), ["r.json"]);
    }

    #[test]
    fn what_unpacks_to_more_than_any_record_has_is_not_unpacked_to_its_end() {
        let zeroes = "0".repeat(5 << 20);
        let packed = pack(Path::new("r.gz"), zeroes.clone()).unwrap();
        assert!(packed.len() < 1 << 14);
        let why = unpack_at_most(&packed, 1 << 20).unwrap_err().to_string();
        assert_eq!(why, "it is more than 1 MiB unpacked");
        // Several members one after the other count together.
        let twice = [packed.clone(), packed].concat();
        assert!(unpack_at_most(&twice, 9 << 20).is_err());
        assert_eq!(unpack_at_most(&twice, 10 << 20).unwrap().len(), 10 << 20);
    }

    #[test]
    fn a_pipe_is_read_to_its_end_and_a_silent_one_given_up() {
        let (_directory, path) = pipe();
        let why = read_patiently(&path, 10, Duration::ZERO).unwrap_err();
        assert_eq!(why.to_string(), "nothing came within 0 s");
        for (bytes, kept) in [("", true), ("0123456789", true), ("0123456789a", false)] {
            let (to, text) = (path.clone(), bytes.to_owned());
            let writer = std::thread::spawn(move || std::fs::write(to, text));
            let read = read_patiently(&path, 10, Duration::from_secs(60)).unwrap();
            assert_eq!(read, kept.then(|| bytes.as_bytes().to_vec()));
            writer.join().unwrap().unwrap();
        }
    }

    #[test]
    fn a_pipe_gets_everything_and_one_that_nobody_reads_is_given_up() {
        let (directory, path) = pipe();
        let why = write_patiently(&path, b"never", Duration::ZERO).unwrap_err();
        assert_eq!(why.to_string(), "nobody read it within 0 s");
        let socket = directory.path().join("socket");
        let _bound = std::os::unix::net::UnixDatagram::bind(&socket).unwrap();
        let why = write_patiently(&socket, b"never", Duration::from_secs(600)).unwrap_err();
        assert_eq!(Errno::from_io_error(&why), Some(Errno::NXIO), "it is not waited for");
        // More than a pipe holds.
        let bytes: Vec<u8> = (0..1 << 20).map(|n: u32| n as u8).collect();
        let from = path.clone();
        let reader = std::thread::spawn(move || std::fs::read(from).unwrap());
        write_patiently(&path, &bytes, Duration::from_secs(60)).unwrap();
        assert_eq!(reader.join().unwrap(), bytes);
    }
}
