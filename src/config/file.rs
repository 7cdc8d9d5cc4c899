//! The one door through which a configuration file comes in.
//!
//! It reads bytes; it does not look at them. Every file is a regular file of at most
//! [`FILE_BYTES_MAX`] bytes, and a folder is listed up to [`FILES_MAX`] files: whatever else lies at
//! the path (a device, a pipe, a flood) is a fault and is not read.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::{ConfigError, Place};
use crate::terms::{RobotId, nearest};

/// Largest configuration file, bytes. Chosen: a robot file of 256 tools stays under a quarter of it.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 20;
/// Most files listed from one folder. Chosen: one file a robot, as many as a robot file has tools.
const FILES_MAX: usize = 256;

/// Reads a file.
///
/// # Errors
/// One fault of the file as a whole, with `hint` as its remedy: no such file, not a regular file, too
/// large, not readable.
pub(crate) fn read(path: &Path, hint: &str) -> Result<Vec<u8>, ConfigError> {
    let fault = |problem: String| ConfigError {
        place: place_of(path),
        key: String::new(),
        problem,
        hint: hint.to_owned(),
    };
    match read_bounded(path) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(fault(format!(
            "is not a regular file of at most {FILE_BYTES_MAX} bytes"
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(fault("no such file".to_owned()))
        }
        Err(error) => Err(fault(format!("cannot be read: {}", error.kind()))),
    }
}

/// Reads the file of a thing by its name, `<dir>/<name>.toml`, and returns how it is quoted.
///
/// # Errors
/// One fault: the name is no plain file name, or as for [`read`]. `what` names the kind of thing.
pub(crate) fn read_named(
    dir: &Path,
    name: &str,
    what: &str,
) -> Result<(String, Vec<u8>), ConfigError> {
    // The grammar of an id has no separator and no leading dot: the path stays within the folder.
    if let Err(error) = RobotId::parse(name) {
        return Err(ConfigError {
            place: place_of(dir),
            key: String::new(),
            problem: format!("{what}: {error}"),
            hint: "name a file of this folder, without its ending".to_owned(),
        });
    }
    let path = dir.join(format!("{name}.toml"));
    let known = toml_stems(dir);
    let hint = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) if near != name => format!("did you mean `{near}`?"),
        Some(_) | None if known.is_empty() => format!("there is no {what} file in this folder"),
        Some(_) | None => format!("{what} files here: {}", known.join(", ")),
    };
    Ok((quoted(&path), read(&path, &hint)?))
}

/// Returns the stems of the `*.toml` files of a folder, sorted; at most 256. A folder that
/// cannot be listed has none: this feeds hints and listings, and the load itself reports the fault.
pub fn toml_stems(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut stems: Vec<String> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .take(FILES_MAX)
        .collect();
    stems.sort();
    stems
}

/// Returns the name by which faults of this file quote it.
pub(crate) fn quoted(path: &Path) -> String {
    path.display().to_string()
}

/// Returns the place of a file as a whole.
pub(crate) fn place_of(path: &Path) -> Place {
    Place {
        file: Arc::from(quoted(path)),
        line: 0,
    }
}

/// Returns the bytes, `None` when there is something else than a regular file or it is too large.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where configuration files are opened"
)]
fn read_bounded(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // Asked before opening: to open a pipe would wait for its writer.
    if !std::fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(FILE_BYTES_MAX.saturating_add(1))
        .read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|len| len <= FILE_BYTES_MAX);
    Ok(fits.then_some(bytes))
}
