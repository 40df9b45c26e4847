//! Notes which hosts run several registrations of ours: hooks run once for each event all the same, at the price of a file (B7).

use std::fs;
use std::io;
use std::path::Path;

use super::record::RegistrationRecord;
use crate::Host;
use crate::hosts;

/// The directory of the notes, beside the record.
const NOTES: &str = "several";

/// Notes every host that runs several of these registrations.
pub(super) fn note_all(directory: &Path, records: &[RegistrationRecord]) -> io::Result<()> {
    for host in hosts::ALL {
        let is_read = |record: &&RegistrationRecord| {
            let also_reads = host.registration.also_reads;
            record.host == host.id || also_reads.contains(&record.host.as_str())
        };
        if records.iter().filter(is_read).count() > 1 {
            note(directory, host)?;
        }
    }
    Ok(())
}

/// Notes a host that runs several registrations. The note stays: another one may be in a file that is not known.
pub(super) fn note(directory: &Path, host: &Host) -> io::Result<()> {
    let file = directory.join(NOTES).join(host.id);
    if file.exists() {
        return Ok(());
    }
    tenter_base::private_dir::create_parent(&file)?;
    fs::write(file, "")
}
