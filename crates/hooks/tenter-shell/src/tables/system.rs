//! Programs that change the system: disks, services, users, processes.

use crate::facts::Class;

use super::{GNU, Program, Run, Style};

/// A program that overwrites the devices in its operands.
const DEVICE: Program = Program { paths: &["write operands"], ..GNU };

pub(super) const PROGRAMS: &[Program] = &[
    // Programs of the system with long options after one dash.
    Program { name: "mkcert", style: Style::Single, ..GNU },
    Program { name: "networksetup", style: Style::Single, ..GNU },
    Program { name: "dscl", style: Style::Single, ..GNU },
    Program { name: "dseditgroup", style: Style::Single, options: "-o= -a= -d= -t=", ..GNU },
    Program { name: "sysadminctl", style: Style::Single, options: "-addUser= -deleteUser=", ..GNU },
    Program {
        name: "talosctl",
        options: "-n= --nodes= -e= --endpoints=",
        has_subcommands: true,
        ..GNU
    },
    Program { name: "mkfs", options: "-t= -L= -n= -b= -c -F -f -q", ..DEVICE },
    Program { name: "mke2fs", options: "-t= -L= -b= -F -q", ..DEVICE },
    Program { name: "mkswap", options: "-L= -p= -U= -f", ..DEVICE },
    Program {
        name: "wipefs",
        options: "-a --all -f --force -n --no-act -o= --offset= -t= --types= -b --backup -p -q",
        paths: &[
            "write operands if -a --all -o --offset unless -n --no-act",
            "list operands unless -a --all -o --offset",
        ],
        ..GNU
    },
    Program { name: "blkdiscard", options: "-o= -l= -p= -s -z -f -v", ..DEVICE },
    Program {
        name: "fdisk",
        options: "-b= -C= -H= -S= -o= -t= -w= -W= -l --list",
        paths: &["write operands unless -l --list"],
        ..GNU
    },
    Program {
        name: "sfdisk",
        options: "-l --list -d --dump --delete -J -N= -O= -n --no-act -X= -Y= -w= -W=",
        paths: &["write operands unless -l --list -d --dump -J -n --no-act"],
        ..GNU
    },
    Program { name: "gdisk", options: "-l", paths: &["write operands unless -l"], ..GNU },
    Program {
        name: "sgdisk",
        options: "-Z -z --zap --zap-all -o -p --print -n= -d= -t= -i=",
        paths: &["write operands unless -p --print -i"],
        ..GNU
    },
    Program { name: "cfdisk", ..DEVICE },
    Program {
        name: "parted",
        options: "-l --list -s -a= -m",
        paths: &["write first unless -l --list"],
        ..GNU
    },
    Program {
        name: "badblocks",
        options: "-b= -c= -o= -p= -w -n -s -v",
        paths: &["write first if -w -n"],
        ..GNU
    },
    Program {
        name: "hdparm",
        options: "--security-erase= --security-set-pass= --user-master= -i -I -t -T",
        paths: &["write operands if --security-erase"],
        ..GNU
    },
    Program { name: "nvme", has_subcommands: true, ..GNU },
    Program {
        name: "nvme format",
        options: "-n= -s= -l= -f --force",
        paths: &["write first"],
        ..GNU
    },
    Program { name: "cryptsetup", has_subcommands: true, ..GNU },
    Program {
        name: "cryptsetup luksFormat",
        options: "-c= -s= -h= -q",
        paths: &["write first"],
        ..GNU
    },
    Program { name: "cryptsetup luksErase", options: "-q", paths: &["write first"], ..GNU },
    Program {
        name: "pvremove",
        options: "-f --force -y --yes -t --test --reportformat= --config= --longhelp --help -h --version",
        paths: &["write operands unless -t --test --longhelp --help -h --version"],
        ..GNU
    },
    Program {
        name: "pvcreate",
        options: "-f --force -y -u= -t --test",
        paths: &["write operands unless -t --test"],
        ..GNU
    },
    Program {
        name: "vgremove",
        options: "-f --force -y --yes -t --test --reportformat= --config= --longhelp --help -h -S=",
        ..GNU
    },
    Program {
        name: "lvremove",
        options: "-f --force -y --yes -t --test --reportformat= --config= --longhelp --help -h -S=",
        ..GNU
    },
    Program { name: "lvm", style: Style::Posix, runs: &[Run::Words(0)], ..GNU },
    Program { name: "zpool", has_subcommands: true, ..GNU },
    Program { name: "zfs", has_subcommands: true, ..GNU },
    Program { name: "btrfs", has_subcommands: true, ..GNU },
    Program {
        name: "mdadm",
        options: "--zero-superblock --stop --fail --remove --create -l= -n=",
        paths: &["write operands if --zero-superblock --create"],
        ..GNU
    },
    Program { name: "diskutil", has_subcommands: true, ..GNU },
    Program {
        name: "mount",
        options: "-t= -o= -L= -U= --source= --target= -B --bind -R --rbind -a",
        // What is below the directory cannot be reached any more.
        paths: &["mode last", "mode --target"],
        ..GNU
    },
    Program { name: "umount", options: "-t= -O= -a -f -l -R", ..GNU },
    Program { name: "swapoff", options: "-a", ..GNU },
    Program {
        name: "fsck",
        options: "-t= -C= -A -y -n",
        paths: &["write operands unless -n"],
        ..GNU
    },
    Program {
        name: "tune2fs",
        options: "-L= -O= -o= -c= -i= -m= -e= -l",
        paths: &["write operands unless -l"],
        ..GNU
    },
    Program {
        name: "systemctl",
        options: "-t= --type= -p= --property= -H= --host= -M= --machine= -n= --lines= -o= --output= -s= --signal= --root= --user --system --now -f --force -q --no-pager",
        has_subcommands: true,
        ..GNU
    },
    Program { name: "service", style: Style::Posix, ..GNU },
    Program { name: "launchctl", has_subcommands: true, ..GNU },
    Program { name: "launchctl load", options: "-w -F -S= -D=", paths: &["read operands"], ..GNU },
    Program { name: "update-rc.d", ..GNU },
    Program { name: "chkconfig", ..GNU },
    Program { name: "loginctl", has_subcommands: true, ..GNU },
    Program { name: "shutdown", options: "-h -r -c -P -H -k", ..GNU },
    Program { name: "reboot", options: "-f -w -d", ..GNU },
    Program { name: "poweroff", ..GNU },
    Program { name: "halt", ..GNU },
    Program { name: "init", ..GNU },
    Program {
        name: "useradd",
        options: "-b= -c= -d= -e= -f= -g= -G= -k= -K= -p= -s= -u= -m -r -o",
        ..GNU
    },
    Program {
        name: "usermod",
        options: "-c= -d= -e= -f= -g= -G= --groups= -l= -p= -s= -u= -a --append -L -U -m",
        ..GNU
    },
    Program { name: "userdel", options: "-r --remove -f --force", ..GNU },
    Program { name: "groupadd", options: "-g= -K= -r -f", ..GNU },
    Program { name: "gpasswd", options: "-a= --add= -d= --delete= -A= -M=", ..GNU },
    Program { name: "adduser", ..GNU },
    Program { name: "deluser", ..GNU },
    Program {
        name: "passwd",
        options: "-d --delete -l --lock -u --unlock -e -n= -x= -w= -i=",
        ..GNU
    },
    Program { name: "chpasswd", ..GNU },
    Program { name: "chsh", options: "-s= --shell=", ..GNU },
    Program {
        name: "visudo",
        options: "-c -f= -s",
        paths: &["write /etc/sudoers unless -c -f", "write -f"],
        ..GNU
    },
    Program { name: "kill", options: "-s= -n= -l -L", ..GNU },
    Program {
        name: "pkill",
        options: "-u= -U= -t= -P= -g= -G= -s= --signal= --euid= --uid= -f -x -n -o -9",
        ..GNU
    },
    Program { name: "killall", options: "-s= --signal= -u= --user= -o= -y= -9 -q -r -w -I", ..GNU },
    Program { name: "sysctl", options: "-w -p? -a -n -e", ..GNU },
    Program { name: "modprobe", options: "-C= -d= -r", ..GNU },
    Program { name: "insmod", paths: &["execute first"], ..GNU },
    Program { name: "rmmod", options: "-f", ..GNU },
    Program {
        name: "iptables",
        options: "-A= -D= -I= -F -t= -p= -s= -d= -j= -P= -X -m= --dport= --sport= -i= -o= -L -n -v",
        ..GNU
    },
    Program { name: "ufw", style: Style::Posix, ..GNU },
    Program { name: "nft", options: "-f=", paths: &["read -f"], ..GNU },
    Program { name: "security", has_subcommands: true, ..GNU },
    Program { name: "defaults", has_subcommands: true, ..GNU },
    Program {
        name: "journalctl",
        options: "-u= -n= -p= -t= -o= -D= -S= -U= --since= --until= --vacuum-size= --vacuum-time= --rotate -f",
        ..GNU
    },
    Program { name: "history", options: "-c -d= -a -w -r", ..GNU },
    Program {
        name: "xclip",
        options: "-i -o -selection= -f",
        style: Style::Single,
        paths: &["read operands"],
        classes: &[(Class::Download, "if -o")],
        ..GNU
    },
    Program { name: "ldconfig", ..GNU },
    Program { name: "update-alternatives", options: "--install --remove --set --config", ..GNU },
    Program {
        name: "ssh-keygen",
        options: "-f= -t= -b= -C= -N= -P= -y -R= -l -q -p",
        paths: &["write -f unless -y -l", "read -f if -y -l"],
        ..GNU
    },
    Program { name: "ssh-copy-id", options: "-i= -p= -o= -F=", ..GNU },
    // A key is used, and not shown.
    Program { name: "ssh-add", options: "-t= -d -D -l -L -K", ..GNU },
];
