//! The state of all files of a project.
//!
//! Files that ignore files exclude and version stores are left out. A file with the same metadata as in an earlier survey is not
//! read again.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tenter_base::FileStamp;
use tenter_proc::Cancel;

use super::beneath::{self, ReadFile};
use super::database::{SnapshotError, SnapshotView};
use super::state::{FileState, ProjectSurvey, StoredPath, SurveyedFile, UnknownReason};
use tenter_walk::{SkipRules, walk};

/// Maximum number of files and directories.
const MAX_ENTRIES: usize = 30_000;
/// Maximum size of all kept files, in bytes.
const MAX_BYTES: u64 = 256 << 20;
/// Time after which no further content is read. The next survey reads it.
const MAX_TIME: Duration = Duration::from_secs(2);
/// Metadata this young says nothing: the file may change again without another time. Nanoseconds.
pub(super) const YOUNG_NS: i128 = 50_000_000;

/// Surveys the files of a project, and stores their contents.
pub(super) struct Surveyor<'s> {
    pub(super) roots: &'s [PathBuf],
    /// The directory of the snapshots, which is left out.
    pub(super) snapshots: &'s Path,
    pub(super) view: &'s SnapshotView<'s>,
    pub(super) cancel: &'s Cancel,
    /// Nanoseconds since 1970.
    pub(super) now_ns: i128,
}

impl Surveyor<'_> {
    /// Returns the state of all files now; `None` if it was cancelled.
    pub(super) fn survey(
        &self,
        earlier: &ProjectSurvey,
    ) -> Result<Option<ProjectSurvey>, SnapshotError> {
        let began = Instant::now();
        let mut now = ProjectSurvey::default();
        let mut bytes = 0_u64;
        for root in self.roots {
            // A directory that cannot be read is left out.
            for entry in walk(root, SkipRules::IgnoreFiles(root), self.cancel).flatten() {
                if now.files.len() >= MAX_ENTRIES {
                    break;
                }
                let Ok(metadata) = entry.metadata() else { continue };
                if entry.path == *root || entry.path.starts_with(self.snapshots) {
                    continue;
                }
                let path = StoredPath(entry.path);
                let may_read = bytes + metadata.len() <= MAX_BYTES && began.elapsed() < MAX_TIME;
                let earlier = earlier.files.get(&path);
                let file = self.file(&path.0, &metadata, earlier, may_read)?;
                if let FileState::File { size, .. } = file.state {
                    bytes += size;
                }
                now.files.insert(path, file);
            }
        }
        Ok((!self.cancel.is_cancelled()).then_some(now))
    }

    fn file(
        &self,
        path: &Path,
        metadata: &Metadata,
        earlier: Option<&SurveyedFile>,
        may_read: bool,
    ) -> Result<SurveyedFile, SnapshotError> {
        let stamp = FileStamp::new(metadata);
        let identity = (metadata.dev(), metadata.ino());
        if let Some(unchanged) = earlier.filter(|file| file.stamp == Some(stamp)) {
            return Ok(unchanged.clone());
        }
        if metadata.is_file() && !may_read {
            let reason = UnknownReason::TooMany;
            let state = FileState::Unknown { reason, stamp: Some(stamp) };
            return Ok(SurveyedFile { state, stamp: None, identity });
        }
        let (state, stamp) = store_content(beneath::read(path)?, self.view)?;
        let is_old = |stamp: &FileStamp| stamp.changed_ns() < self.now_ns - YOUNG_NS;
        Ok(SurveyedFile { state, stamp: stamp.filter(is_old), identity })
    }
}

/// Stores the content of a regular file. Returns the state of the file, with the stamp of a regular one.
pub(super) fn store_content(
    content: ReadFile,
    view: &SnapshotView<'_>,
) -> Result<(FileState, Option<FileStamp>), SnapshotError> {
    Ok(match content {
        ReadFile::Other(state) => (state, None),
        ReadFile::File { bytes, mode, stamp } => {
            let (content, size) = (view.put(&bytes)?, bytes.len() as u64);
            (FileState::File { content, size, mode }, Some(stamp))
        }
    })
}

/// Returns where a file comes from that an earlier survey did not see. Only a created one may be deleted.
pub(super) fn origin(path: &Path, earlier: &BTreeSet<(u64, u64)>, since_ns: i128) -> FileOrigin {
    let Ok(metadata) = fs::symlink_metadata(path) else { return FileOrigin::Earlier };
    // It was moved: its content is known at the old path.
    if earlier.contains(&(metadata.dev(), metadata.ino())) {
        return FileOrigin::Created;
    }
    let since_ns = since_ns - YOUNG_NS;
    let born = metadata.created().ok();
    let born = born.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    match born.map(|born| born.as_nanos().cast_signed()) {
        Some(born) if born >= since_ns => FileOrigin::Created,
        _ if FileStamp::new(&metadata).changed_ns() < since_ns => FileOrigin::Earlier,
        _ => FileOrigin::NotSeen,
    }
}

/// The origin of a file that an earlier survey did not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileOrigin {
    /// It was created since, or moved here.
    Created,
    /// It existed, and did not change.
    Earlier,
    /// It changed, and its earlier content is unknown.
    NotSeen,
}
