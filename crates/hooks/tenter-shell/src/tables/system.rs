//! Programs that change the system: disks, services, users, processes.

use crate::facts::Class;

use super::rows::{like, program};
use super::{GNU, Program, Run, Style};

/// A program that overwrites the devices in its operands.
const DEVICE: Program = GNU.paths(&["write operands"]);

pub(super) const PROGRAMS: &[Program] = &[
    // Programs of the system with long options after one dash.
    program("mkcert").style(Style::Single),
    program("networksetup").style(Style::Single),
    program("dscl").style(Style::Single),
    program("dseditgroup").style(Style::Single).options("-o= -a= -d= -t="),
    program("sysadminctl").style(Style::Single).options("-addUser= -deleteUser="),
    program("talosctl").options("-n= --nodes= -e= --endpoints=").with_subcommands(),
    like(DEVICE, "mkfs").options("-t= -L= -n= -b= -c -F -f -q"),
    like(DEVICE, "mke2fs").options("-t= -L= -b= -F -q"),
    like(DEVICE, "mkswap").options("-L= -p= -U= -f"),
    program("wipefs")
        .options("-a --all -f --force -n --no-act -o= --offset= -t= --types= -b --backup -p -q")
        .paths(&[
            "write operands if -a --all -o --offset unless -n --no-act",
            "list operands unless -a --all -o --offset",
        ]),
    like(DEVICE, "blkdiscard").options("-o= -l= -p= -s -z -f -v"),
    program("fdisk")
        .options("-b= -C= -H= -S= -o= -t= -w= -W= -l --list")
        .paths(&["write operands unless -l --list"]),
    program("sfdisk")
        .options("-l --list -d --dump --delete -J -N= -O= -n --no-act -X= -Y= -w= -W=")
        .paths(&["write operands unless -l --list -d --dump -J -n --no-act"]),
    program("gdisk").options("-l").paths(&["write operands unless -l"]),
    program("sgdisk")
        .options("-Z -z --zap --zap-all -o -p --print -n= -d= -t= -i=")
        .paths(&["write operands unless -p --print -i"]),
    like(DEVICE, "cfdisk"),
    program("parted").options("-l --list -s -a= -m").paths(&["write first unless -l --list"]),
    program("badblocks").options("-b= -c= -o= -p= -w -n -s -v").paths(&["write first if -w -n"]),
    program("hdparm")
        .options("--security-erase= --security-set-pass= --user-master= -i -I -t -T")
        .paths(&["write operands if --security-erase"]),
    program("nvme").with_subcommands(),
    program("nvme format").options("-n= -s= -l= -f --force").paths(&["write first"]),
    program("cryptsetup").with_subcommands(),
    program("cryptsetup luksFormat").options("-c= -s= -h= -q").paths(&["write first"]),
    program("cryptsetup luksErase").options("-q").paths(&["write first"]),
    program("pvremove")
        .options("-f --force -y --yes -t --test --reportformat= --config= --longhelp --help -h --version")
        .paths(&["write operands unless -t --test --longhelp --help -h --version"]),
    program("pvcreate")
        .options("-f --force -y -u= -t --test")
        .paths(&["write operands unless -t --test"]),
    program("vgremove")
        .options("-f --force -y --yes -t --test --reportformat= --config= --longhelp --help -h -S="),
    program("lvremove")
        .options("-f --force -y --yes -t --test --reportformat= --config= --longhelp --help -h -S="),
    program("lvm").style(Style::Posix).runs(&[Run::Words(0)]),
    program("zpool").with_subcommands(),
    program("zfs").with_subcommands(),
    program("btrfs").with_subcommands(),
    program("mdadm")
        .options("--zero-superblock --stop --fail --remove --create -l= -n=")
        .paths(&["write operands if --zero-superblock --create"]),
    program("diskutil").with_subcommands(),
    program("mount")
        .options("-t= -o= -L= -U= --source= --target= -B --bind -R --rbind -a")
        // What is below the directory cannot be reached any more.
        .paths(&["mode last", "mode --target"]),
    program("umount").options("-t= -O= -a -f -l -R"),
    program("swapoff").options("-a"),
    program("fsck").options("-t= -C= -A -y -n").paths(&["write operands unless -n"]),
    program("tune2fs")
        .options("-L= -O= -o= -c= -i= -m= -e= -l")
        .paths(&["write operands unless -l"]),
    program("systemctl")
        .options("-t= --type= -p= --property= -H= --host= -M= --machine= -n= --lines= -o= --output= -s= --signal= --root= --user --system --now -f --force -q --no-pager")
        .with_subcommands(),
    program("service").style(Style::Posix),
    program("launchctl").with_subcommands(),
    program("launchctl load").options("-w -F -S= -D=").paths(&["read operands"]),
    program("update-rc.d"),
    program("chkconfig"),
    program("loginctl").with_subcommands(),
    program("shutdown").options("-h -r -c -P -H -k"),
    program("reboot").options("-f -w -d"),
    program("stop-computer").style(Style::Caseless),
    program("restart-computer").style(Style::Caseless),
    program("poweroff"),
    program("halt"),
    program("init"),
    program("useradd").options("-b= -c= -d= -e= -f= -g= -G= -k= -K= -p= -s= -u= -m -r -o"),
    program("usermod")
        .options("-c= -d= -e= -f= -g= -G= --groups= -l= -p= -s= -u= -a --append -L -U -m"),
    program("userdel").options("-r --remove -f --force"),
    program("groupadd").options("-g= -K= -r -f"),
    program("gpasswd").options("-a= --add= -d= --delete= -A= -M="),
    program("adduser"),
    program("deluser"),
    program("passwd").options("-d --delete -l --lock -u --unlock -e -n= -x= -w= -i="),
    program("chpasswd"),
    program("chsh").options("-s= --shell="),
    program("visudo").options("-c -f= -s").paths(&["write /etc/sudoers unless -c -f", "write -f"]),
    program("kill").options("-s= -n= -l -L"),
    program("pkill").options("-u= -U= -t= -P= -g= -G= -s= --signal= --euid= --uid= -f -x -n -o -9"),
    program("killall").options("-s= --signal= -u= --user= -o= -y= -9 -q -r -w -I"),
    program("sysctl").options("-w -p? -a -n -e"),
    program("modprobe").options("-C= -d= -r"),
    program("insmod").paths(&["execute first"]),
    program("rmmod").options("-f"),
    program("iptables")
        .options("-A= -D= -I= -F -t= -p= -s= -d= -j= -P= -X -m= --dport= --sport= -i= -o= -L -n -v"),
    program("ufw").style(Style::Posix),
    program("nft").options("-f=").paths(&["read -f"]),
    program("security").with_subcommands(),
    program("defaults").with_subcommands(),
    program("journalctl")
        .options("-u= -n= -p= -t= -o= -D= -S= -U= --since= --until= --vacuum-size= --vacuum-time= --rotate -f"),
    program("history").options("-c -d= -a -w -r"),
    program("xclip")
        .options("-i -o -selection= -f")
        .style(Style::Single)
        .paths(&["read operands"])
        .classes(&[(Class::Download, "if -o")]),
    program("ldconfig"),
    program("update-alternatives").options("--install --remove --set --config"),
    program("ssh-keygen")
        .options("-f= -t= -b= -C= -N= -P= -y -R= -l -q -p")
        .paths(&["write -f unless -y -l", "read -f if -y -l"]),
    program("ssh-copy-id").options("-i= -p= -o= -F="),
    // A key is used, and not shown.
    program("ssh-add").options("-t= -d -D -l -L -K"),
];
