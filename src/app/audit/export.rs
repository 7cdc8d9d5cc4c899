//! `audit export`: the whole box in one file, for those who keep it elsewhere.
//!
//! JSON Lines. The first line says of whom, when, and what verifying found, with the heads. Each further
//! line is a record exactly as it lies in the box, chain after chain, so whoever gets the file can check
//! it by the same rule. A line that is no record stands as `{"unreadable": …}`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{audit_of, bad};
use crate::app::clock::SystemClock;
use crate::app::exit::AppError;
use crate::app::settings::Settings;
use crate::telemetry::{ExportLine, Verification, export_lines, verify_records};
use crate::terms::{Clock as _, RobotId};

/// Form of the file.
const FORMAT: u32 = 1;
/// Bytes of a line that is no record, as far as they are exported.
const UNREADABLE_BYTES_MAX: usize = 8192;

/// What was exported.
#[derive(Debug, Clone, Serialize)]
pub struct ExportReport {
    /// The robot.
    pub robot_id: String,
    /// Where it was written.
    pub file: String,
    /// Lines behind the first.
    pub lines: u64,
    /// What verifying found.
    #[serde(flatten)]
    pub verification: Verification,
}

/// The first line.
#[derive(Debug, Serialize)]
struct FirstLine<'a> {
    octos_edge_audit: u32,
    robot_id: &'a str,
    exported_at: String,
    #[serde(flatten)]
    verification: &'a Verification,
}

/// Writes the whole box of a robot into a file. A broken chain is exported as well, and told.
///
/// # Errors
/// [`AppError::Usage`] when the file exists and `force` does not say that it may go, or when it would
/// lie in the box itself; [`AppError::State`] as for verifying; [`AppError::JobFailed`] when it cannot
/// be written, in which case none is left behind.
pub fn export_audit(
    settings: &Settings,
    robot: Option<&RobotId>,
    (file, force): (&Path, bool),
) -> Result<ExportReport, AppError> {
    let (robot, folder) = audit_of(settings, robot)?;
    refuse_inside(file, &folder)?;
    let verification = verify_records(&folder, &[]).map_err(|error| bad(&folder, &error))?;
    let now = SystemClock::start().wall();
    let first = FirstLine {
        octos_edge_audit: FORMAT,
        robot_id: robot.as_str(),
        exported_at: humantime::format_rfc3339_millis(now).to_string(),
        verification: &verification,
    };
    let target = Target::open(file, force)?;
    let lines = match write(&target.file, &first, &folder) {
        Ok(lines) => lines,
        Err(error) => {
            drop(std::fs::remove_file(&target.path));
            return Err(AppError::JobFailed(format!(
                "could not write {}: {error}",
                file.display()
            )));
        }
    };
    target.give_name(file)?;
    Ok(ExportReport {
        robot_id: robot.to_string(),
        file: file.display().to_string(),
        lines,
        verification,
    })
}

fn write(file: &File, first: &FirstLine<'_>, folder: &Path) -> io::Result<u64> {
    let mut out = BufWriter::new(file);
    serde_json::to_writer(&mut out, first)?;
    out.write_all(b"\n")?;
    let mut lines = 0_u64;
    export_lines(folder, &mut |line| {
        lines = lines.saturating_add(1);
        if line.sealed {
            out.write_all(line.bytes)?;
        } else {
            out.write_all(unreadable(&line).as_bytes())?;
        }
        out.write_all(b"\n")
    })?;
    out.flush()?;
    file.sync_all()?;
    Ok(lines)
}

fn unreadable(line: &ExportLine<'_>) -> String {
    let shown = line.bytes.get(..UNREADABLE_BYTES_MAX).unwrap_or(line.bytes);
    let text = String::from_utf8_lossy(shown);
    serde_json::json!({
        "unreadable": { "file": line.file, "line": line.line, "text": text }
    })
    .to_string()
}

/// The file that is written; with `force` under another name until it is whole.
struct Target {
    file: File,
    path: PathBuf,
}

impl Target {
    fn open(file: &Path, force: bool) -> Result<Self, AppError> {
        let path = if force {
            let mut name = file.as_os_str().to_owned();
            // A name that nobody can have laid there before.
            name.push(format!(".{}.part", uuid::Uuid::new_v4().simple()));
            PathBuf::from(name)
        } else {
            file.to_owned()
        };
        let there = std::fs::symlink_metadata(file);
        if force && there.is_ok_and(|there| !there.is_file()) {
            return Err(AppError::Usage {
                problem: format!("{} is no ordinary file", file.display()),
                hint: "name another file".to_owned(),
            });
        }
        // A new file always: nothing is followed and nothing is written over.
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        match options.open(&path) {
            Ok(file) => Ok(Self { file, path }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(AppError::Usage {
                problem: format!("{} exists", path.display()),
                hint: if force {
                    "remove it: an export that was cut short has left it"
                } else {
                    "name another file, or let it go with --force"
                }
                .to_owned(),
            }),
            Err(error) => Err(unwritten(file, &error)),
        }
    }

    fn give_name(&self, file: &Path) -> Result<(), AppError> {
        if self.path == file {
            return Ok(());
        }
        std::fs::rename(&self.path, file).map_err(|error| {
            drop(std::fs::remove_file(&self.path));
            unwritten(file, &error)
        })
    }
}

fn unwritten(file: &Path, error: &io::Error) -> AppError {
    AppError::JobFailed(format!("could not write {}: {error}", file.display()))
}

/// An export must not become a file of the box.
fn refuse_inside(file: &Path, folder: &Path) -> Result<(), AppError> {
    let parent = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    let same = parent
        .canonicalize()
        .ok()
        .zip(folder.canonicalize().ok())
        .is_some_and(|(parent, folder)| parent.starts_with(folder));
    if same {
        return Err(AppError::Usage {
            problem: format!("{} lies in the audit itself", file.display()),
            hint: "export into another folder".to_owned(),
        });
    }
    Ok(())
}
