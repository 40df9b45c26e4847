//! Commands that would wait for input, where the agent can send it later and no hook sees it.

use tenter_shell::{Surroundings, read};

use crate::surroundings;

/// These run what is sent later.
const WAITING: [&str; 22] = *tenter_base::phrases!(
    "bash, time bash, nohup python3 &, sudo -u ann bash, echo $(sh), bash -c bash,
     if true; then exec bash; fi, cat | sh, cat | tee | sh, docker exec -it web sh, ssh host bash,
     psql shop, sqlite3 app.db, python3 -i x.py, python3 manage.py shell, node -i -e 1,
     gdb ./a.out, sudo -s, su -l ann, chroot /mnt, script log, unshare -r"
);

/// These have their input, or none.
const READ: [&str; 18] = [
    "bash -c ls",
    "bash build.sh",
    "bash < /dev/null",
    "bash <<< ls",
    "node <<E\n1\nE",
    "echo ls | bash",
    "cat build.sh | sh",
    "python3 --version",
    "python3 -m http.server",
    "psql -c 'select 1' shop",
    "sqlite3 app.db .tables",
    "gdb -batch -ex bt ./a.out",
    "sudo ls",
    "su -c ls ann",
    "chroot /mnt ls",
    "sort | uniq -c",
    "perl -i -pe s/a/b/ f",
    "xargs -n1 bash < list",
];

#[test]
fn a_command_that_waits_for_unseen_input_is_not_read_to_its_end() {
    let unseen = Surroundings { unseen_input: true, ..surroundings() };
    for text in WAITING {
        let facts = read(text, &unseen);
        assert!(facts.over_limit && facts.unparsed, "{text}");
        assert!(!read(text, &surroundings()).over_limit, "{text}");
    }
    for text in READ {
        assert!(!read(text, &unseen).over_limit, "{text}");
    }
}
