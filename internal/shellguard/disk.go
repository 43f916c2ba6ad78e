package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// A disk is wiped by whatever writes to it. So the floor does not list programs
// that may, but those that are told of a disk every day and do not.

// isDisk: a disk or a part of one, or the memory of the machine.
func isDisk(s string) bool {
	name, ok := strings.CutPrefix(path.Clean(s), "/dev/")
	if !ok || !isDevice(s) {
		return false
	}
	return diskName.MatchString(name)
}

var (
	diskName = pattern.Of(`^(sd[a-z*?\[]|hd[a-z*?\[]|vd[a-z*?\[]|xvd|nvme|mmcblk|r?disk|mapper/|dm-|md|block/|nbd|sr[0-9]|zd|zvol/|bcache|mem$|kmem$|port$|mtd|sg[0-9]|dasd|pmem|vg|[*?\[])`)
	diskText = pattern.Of(`/dev/[A-Za-z0-9/_-]+`)
)

// looksAtDisks: programs that are told of a disk and do not wipe it.
func looksAtDisks(name string) bool {
	return isOneOf(name, "lsblk blkid smartctl mount umount findmnt fsck e2fsck df du file stat ls cat head tail od hexdump strings wc md5sum sha256sum cmp readlink realpath basename test [ [[ echo printf grep rg udevadm lsof fuser iostat blockdev swapon swapoff eject "+
		"dd git gh docker podman alias export read local declare for hdparm dumpe2fs growpart resize2fs xfs_growfs") || isWrapper(name)
}

const wipesDisk = "it removes what is on a disk"

var diskutilWipes = pattern.Of(`(?i)^(erase|zero|random|secureErase|partition|reformat|delete)`)

// floorDisk is about programs that are given a disk, and about those that do
// away with one by its name.
func (p *Program) floorDisk(name string) string {
	switch name {
	case "mke2fs", "mkdosfs", "mkntfs", "mkexfatfs", "mkudffs", "mkreiserfs", "nwipe", "lvremove", "vgremove", "pvremove", "lvreduce":
		return wipesDisk
	case "lvm":
		if p.word("lvremove", "vgremove", "pvremove", "lvreduce") {
			return wipesDisk
		}
	case "zpool", "zfs":
		if p.word("destroy", "labelclear") || p.word("create") && p.flag("f") || p.word("rollback") && p.flag("rR") {
			return wipesDisk
		}
	case "btrfs":
		if slices.ContainsFunc(p.Args, func(a Arg) bool { return len(a.Text) > 1 && strings.HasPrefix("delete", a.Text) }) && (p.vitalArg() || p.personalArg() || p.vital) {
			return "it removes a directory of the system or a whole home"
		}
	case "dmsetup":
		if p.word("remove_all", "wipe_table", "clear") {
			return wipesDisk
		}
	case "diskutil":
		if slices.ContainsFunc(p.Args, func(a Arg) bool { return diskutilWipes.MatchString(a.Text) }) {
			return wipesDisk
		}
	case "wipefs", "blkdiscard", "mkswap", "sgdisk", "sfdisk":
		open := func(a Arg) bool { return !a.Literal && len(a.values) == 0 }
		if !p.flag("np", "no-act", "print", "dump") && (fills(p.Via) || slices.ContainsFunc(p.Args, open)) {
			return "it may remove what is on a disk, by a name that is not in the line"
		}
	case "cp", "install", "rsync", "scp", "mv":
		for _, a := range p.Args {
			if slices.ContainsFunc(pathsIn(a.Text), func(t string) bool { return strings.HasPrefix(t, "/") && path.Clean(t) == "/dev" }) {
				return "it writes to the devices in /dev"
			}
		}
	}
	if p.Class == ReadOnly || looksAtDisks(name) {
		return ""
	}
	code := strings.HasSuffix(name, "awk") || name == "sed" || name == "gsed"
	for _, a := range p.Args {
		for _, t := range a.texts() {
			parts := pathsIn(t)
			if at := strings.Index(t, "/dev/"); at > 0 && t[0] == '-' && !strings.Contains(t, "://") { // -qO/dev/sda
				parts = append(parts, t[at:])
			}
			if strings.ContainsAny(t, " \t\n\"'>") {
				if parts = nil; code {
					parts = diskText.Regexp().FindAllString(t, maxVaried)
				}
			}
			for _, part := range parts {
				for _, d := range p.Dirs {
					if device, ok := deviceIn(d, part); ok {
						part = device
					}
				}
				if isDisk(part) {
					return "it may write to the device " + Quote(part)
				}
				if path.Clean(part) == "/proc/sysrq-trigger" {
					return "it commands the kernel"
				}
			}
		}
	}
	return ""
}

// floorMachine: further ways to switch the machine off, and to remove somebody's
// home with the account.
func (p *Program) floorMachine(name string) string {
	const off = "it switches the machine off or into another state"
	says := func(words ...string) bool {
		return slices.ContainsFunc(p.Args, func(a Arg) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(a.Text), w) })
		})
	}
	switch name {
	case "userdel", "deluser":
		if p.flag("rf", "remove", "remove-home", "remove-all-files", "force") {
			return "it removes the home of a user"
		}
	case "kexec":
		if p.flag("e", "exec", "force") {
			return off
		}
	case "rtcwake":
		if !says("show") && !p.flag("", "list-modes", "dry-run") {
			return off
		}
	case "loginctl":
		if p.word("poweroff", "reboot", "halt", "suspend", "hibernate", "hybrid-sleep", "suspend-then-hibernate", "terminate-user", "kill-user") {
			return off
		}
	case "busctl", "dbus-send", "gdbus", "qdbus", "osascript":
		if says("poweroff", "reboot", "halt", "suspend", "hibernate", "shut down", "shutdown", "restart") {
			return off
		}
	}
	return ""
}
