//go:build amd64 || arm64

package linux

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const hostname = "sandbox"

// The steps, by which a failure is explained.
const (
	stepUser    = "becoming an unprivileged user"
	stepNetwork = "setting up the network namespace"
	stepFiles   = "setting up the file system"
	stepCover   = "covering what is protected"
	stepDir     = "entering the working directory"
	stepLock    = "giving up privileges"
	stepJoin    = "joining a cgroup"
	stepLimit   = "setting limits"
	stepProgram = "starting the program"
)

// build writes the life of a program from its birth to its first instruction.
func build(j *job) *script {
	s := &script{}
	s.become(j)
	s.ownNetwork(j)
	s.enter(j)
	s.ready(j.checked())
	s.streams(j)
	s.do(label{stepDir, j.dir}, unix.SYS_CHDIR, s.text(j.dir))
	s.lock(j)
	s.launch(j)
	return s
}

// become takes on the user of the job. Coming from root, it is the only one
// that has a number in this namespace.
func (s *script) become(j *job) {
	if !j.become {
		return
	}
	l := label{step: stepUser}
	s.do(l, unix.SYS_SETGROUPS, num(0), num(0))
	s.do(l, unix.SYS_SETRESGID, num(j.gid), num(j.gid), num(j.gid))
	s.do(l, unix.SYS_SETRESUID, num(j.uid), num(j.uid), num(j.uid))
	s.do(l, callTie, file(j.files.keeper))
}

// ownNetwork names the machine and switches on its loopback, which is reached
// by nobody else: programs that test themselves over it work.
func (s *script) ownNetwork(j *job) {
	l := label{step: stepNetwork}
	s.do(l, unix.SYS_SETHOSTNAME, at(s.put([]byte(hostname))), num(len(hostname)))
	if j.network {
		return
	}
	fd := s.kept(l, unix.SYS_SOCKET, num(unix.AF_INET), num(unix.SOCK_DGRAM|unix.SOCK_CLOEXEC), num(0))
	request := make([]byte, 40) // struct ifreq: a name, then the flags
	copy(request, "lo")
	binary.LittleEndian.PutUint16(request[16:], unix.IFF_UP)
	s.do(l, unix.SYS_IOCTL, fd, num(unix.SIOCSIFFLAGS), at(s.put(request)))
	s.close(l, fd)
	s.ownSockets(j)
}

// base is where the new root is put together before it becomes the root. Any
// directory that is there would do, and this one must be.
const base = "/proc"

// enter builds the file system of the job and makes it the only one. The order
// matters: sources are opened before the old root goes, and placed after, so
// that a link inside a granted directory can lead at most to another place
// inside.
func (s *script) enter(j *job) {
	s.mount(label{stepFiles, "making the mounts private"}, "", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	trees, uppers, between := make([]arg, len(j.binds)), make([]arg, len(j.binds)), make([]*arg, len(j.binds))
	for i, b := range j.binds {
		trees[i] = s.source(b)
		if b.over != nil {
			uppers[i] = s.source(b.over.writable())
		}
		if b.between != nil {
			earlier := s.source(*b.between)
			between[i] = &earlier
		}
	}
	s.newRoot()
	s.furnish(j)
	made := map[string]bool{}
	for i, b := range j.binds {
		nested := slices.ContainsFunc(j.binds[:i], func(o bind) bool { return strings.HasPrefix(b.target, o.target+"/") })
		if b.over != nil {
			trees[i] = s.overlay(halves{trees[i], uppers[i], between[i]}, b.target, b.over.write, i, j.coversOf(b.target))
		}
		s.place(trees[i], b, nested, made)
	}
	covers := j.covers
	if j.onLayer() {
		covers = onLayers(covers)
	}
	s.cover(covers, j.under)
	s.setattr(label{stepFiles, "closing the root"}, num(unix.AT_FDCWD), "/", 0, unix.MOUNT_ATTR_RDONLY)
	s.fasten(j)
}

// fasten locks the mounts to each other by copying all of them into another
// mount namespace, of another user namespace. A directory that was opened here
// can be sent to a program of another sandbox and used there when this one has
// ended. The kernel takes the mounts of a namespace apart when it ends, and what
// was covered would then be open to whoever has such a descriptor. Mounts that
// came from another user namespace stay together for as long as one of them is
// in use.
func (s *script) fasten(j *job) {
	l := label{stepFiles, "locking the mounts"}
	// Becoming another user took the right to write the maps below.
	s.prctl(l, unix.PR_SET_DUMPABLE, 1)
	s.do(l, unix.SYS_UNSHARE, num(unix.CLONE_NEWUSER|unix.CLONE_NEWNS))
	same := func(id int) string { return strconv.Itoa(id) + " " + strconv.Itoa(id) + " 1\n" }
	for _, f := range [][2]string{{"setgroups", "deny"}, {"gid_map", same(j.gid)}, {"uid_map", same(j.uid)}} {
		fd := s.kept(l, unix.SYS_OPENAT, num(unix.AT_FDCWD), s.text("/proc/self/"+f[0]), num(unix.O_WRONLY|unix.O_CLOEXEC), num(0))
		s.do(l, unix.SYS_WRITE, fd, at(s.put([]byte(f[1]))), num(len(f[1])))
		s.close(l, fd)
	}
	s.boundWatches(j.watches)
}

// boundWatches leaves the rest of the account a part of what the kernel counts
// for it as a whole. It must be done in the namespace that the program is in.
func (s *script) boundWatches(list []watchBound) {
	l := label{stepLimit, "bounding the watches of files"}
	for _, b := range list {
		fd := s.slot()
		open := s.do(l, unix.SYS_OPENAT, num(unix.AT_FDCWD), s.text(watchBounds+b.name), num(unix.O_WRONLY|unix.O_CLOEXEC), num(0))
		open.keep, open.tolerate, open.skip = uint16(fd.value), anyError, 2
		s.do(l, unix.SYS_WRITE, fd, at(s.put([]byte(b.value))), num(len(b.value))).tolerate = anyError
		s.close(l, fd)
	}
}

// source opens what is to be shown, as a mount that hangs nowhere yet.
func (s *script) source(b bind) arg {
	if b.mount > 0 {
		return file(b.mount)
	}
	l := label{stepFiles, "opening " + b.source}
	resolve := uint64(unix.RESOLVE_NO_MAGICLINKS)
	if b.strict {
		resolve = strictly
	}
	fd := s.openat2(l, b.source, 0, resolve)
	const clone = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_EMPTY_PATH | unix.AT_RECURSIVE
	tree := s.kept(l, unix.SYS_OPEN_TREE, fd, s.text(""), num(clone))
	s.close(l, fd)
	s.setattr(label{stepFiles, "protecting " + b.source}, tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, protection(b.write, b.device))
	return tree
}

// newRoot swaps the root for an empty one with a /proc. The new /proc must be
// mounted while the old one is still there: the kernel gives a namespace no
// more of it than it could see before.
func (s *script) newRoot() {
	const quiet = unix.MS_NOSUID | unix.MS_NODEV
	s.mount(label{stepFiles, "mounting a new root"}, "tmpfs", base, "tmpfs", quiet, "mode=755,size=1m")
	l := label{stepFiles, "mounting /proc"}
	s.do(l, unix.SYS_CHDIR, s.text(base))
	s.mkdir(l, "proc")
	s.mount(l, "proc", "proc", "proc", quiet|unix.MS_NOEXEC, "")
	l.detail = "changing the root"
	s.do(l, unix.SYS_PIVOT_ROOT, s.text("."), s.text("."))
	// The old root now lies on top of the new one.
	s.do(l, unix.SYS_UMOUNT2, s.text("."), num(unix.MNT_DETACH))
	s.do(l, unix.SYS_CHDIR, s.text("/"))
}

// furnish makes what is not shown from the host.
func (s *script) furnish(j *job) {
	l := label{stepFiles, "furnishing the root"}
	for _, dir := range []string{"/tmp", "/dev", "/dev/shm", "/etc", "/run", "/var", "/var/tmp"} {
		s.mkdir(l, dir)
	}
	const quiet = unix.MS_NOSUID | unix.MS_NODEV
	// Files of no size at all take memory too, so their number is bounded.
	options := func(size int64) string {
		return "mode=1777,size=" + strconv.FormatInt(size, 10) + ",nr_inodes=" + strconv.FormatInt(max(1024, size/(16<<10)), 10)
	}
	s.mount(label{stepFiles, "mounting /tmp"}, "tmpfs", "/tmp", "tmpfs", quiet, options(j.temp))
	s.mount(label{stepFiles, "mounting /var/tmp"}, "/tmp", "/var/tmp", "", unix.MS_BIND, "") // no link: what is granted may lie in it
	s.mount(label{stepFiles, "mounting /dev/shm"}, "tmpfs", "/dev/shm", "tmpfs", quiet|unix.MS_NOEXEC, options(sharedSize(j.temp)))
	for _, f := range slices.Concat(accounts(j), j.made) {
		s.writeFile(l, f[0], f[1])
	}
	for _, link := range append([]symlink{
		{"/proc/self/fd", "/dev/fd"}, {"/proc/self/fd/0", "/dev/stdin"}, {"/proc/self/fd/1", "/dev/stdout"}, {"/proc/self/fd/2", "/dev/stderr"},
		{"/proc/self/mounts", "/etc/mtab"},
	}, j.links...) {
		s.symlink(l, link.target, link.path)
	}
}

// sharedSize is the size of /dev/shm beside a /tmp.
func sharedSize(temp int64) int64 { return min(temp, 64<<20) }

// accounts are the files by which numbers and names of users and hosts are
// found. Those of the host would tell who works there.
func accounts(j *job) [][2]string {
	uid, gid := strconv.Itoa(j.uid), strconv.Itoa(j.gid)
	passwd := "root:x:0:0:root:/tmp:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/tmp:/usr/sbin/nologin\n"
	group := "root:x:0:\nnogroup:x:65534:\n"
	if j.uid != 0 && j.uid != 65534 {
		passwd += "sandbox:x:" + uid + ":" + gid + ":sandbox:/tmp:/bin/sh\n"
	}
	if j.gid != 0 && j.gid != 65534 {
		group += "sandbox:x:" + gid + ":\n"
	}
	files := [][2]string{
		{"/etc/passwd", passwd}, {"/etc/group", group},
		{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n"},
	}
	if !j.network {
		files = append(files, [2]string{"/etc/hosts", "127.0.0.1 localhost " + hostname + "\n::1 localhost\n"},
			[2]string{"/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n"})
	}
	return files
}

// place puts a mount where it belongs. What is nested in another bind is there
// already; for everything else a place is made.
func (s *script) place(tree arg, b bind, nested bool, made map[string]bool) {
	l := label{stepFiles, "showing " + b.target}
	if !nested {
		for i := 1; i < len(b.target); i++ {
			if dir := b.target[:i]; b.target[i] == '/' && !made[dir] {
				made[dir] = true
				s.mkdir(l, dir)
			}
		}
		if b.file {
			s.writeFile(l, b.target, "")
		} else if !made[b.target] {
			made[b.target] = true
			s.mkdir(l, b.target)
		}
	}
	// No link on the way: inside an earlier bind there may be one, and the
	// mount would show under a name that was not granted.
	to := s.openat2(l, b.target, 0, strictly)
	s.do(l, unix.SYS_MOVE_MOUNT, tree, s.text(""), to, s.text(""), num(unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
	s.close(l, to)
}

// joinAt is the first descriptor of the cgroups.
const joinAt = keeperAt + 1

// streams puts descriptors where they belong and closes all others.
func (s *script) streams(j *job) {
	l := label{stepProgram, "arranging its streams"}
	const apart = 256 // above all that will be taken
	wanted := slices.Concat([]int{j.files.stdin, j.files.stdout, j.files.stderr, j.files.keeper}, j.files.join)
	moved := make([]arg, len(wanted))
	for i, n := range wanted {
		moved[i] = s.kept(l, unix.SYS_FCNTL, file(n), num(unix.F_DUPFD), num(apart))
	}
	for i, fd := range moved {
		to, flags := i, 0
		if i > 2 {
			to, flags = keeperAt+i-3, unix.O_CLOEXEC
		}
		s.do(l, unix.SYS_DUP3, fd, num(to), num(flags))
	}
	s.do(l, unix.SYS_CLOSE_RANGE, num(joinAt+len(j.files.join)), num(1<<31-1), num(0)) // whoever started us may have left something open
}

// lock gives up everything that is not needed to fork the program and to wait
// for it.
func (s *script) lock(j *job) {
	l := label{stepLock, "forbidding new privileges"}
	s.prctl(l, unix.PR_SET_NO_NEW_PRIVS, 1)
	s.confine(j)
	l.detail = "dropping capabilities"
	s.prctl(l, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL)
	for c := range 64 {
		s.prctl(l, unix.PR_CAPBSET_DROP, c).tolerate = uint16(unix.EINVAL) // one that this kernel does not know
	}
	const noRoot = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 // NOROOT and NO_SETUID_FIXUP with their locks, and KEEP_CAPS locked off
	s.prctl(l, unix.PR_SET_SECUREBITS, noRoot)
	header := binary.LittleEndian.AppendUint32(nil, unix.LINUX_CAPABILITY_VERSION_3)
	s.do(l, unix.SYS_CAPSET, at(s.put(append(header, 0, 0, 0, 0))), at(s.put(make([]byte, 24))))
	// Nobody inside may look into this process, nor at what it was forked from.
	s.prctl(label{stepLock, "closing the first process"}, unix.PR_SET_DUMPABLE, 0)
	// Last, because a change of rights takes it back.
	s.do(label{stepLock, "tying it to the keeper"}, callTie, num(keeperAt))
	s.limit(j, func(resource int) bool { return resource == unix.RLIMIT_CORE }) // the filter keeps it as it is
	// In the network of the host, sockets without a name in the file system
	// are those of the host. Only Landlock can tell them apart.
	filter(here(), filterRules{unixSockets: j.landlock > 0 && !j.network || j.landlock >= scopingABI, anonymous: j.anonymous}).install(s)
}

// limit sets some of the limits.
func (s *script) limit(j *job, which func(resource int) bool) {
	for _, l := range j.limits {
		if which(l.resource) {
			value := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, l.value), l.value)
			s.do(label{step: stepLimit}, unix.SYS_PRLIMIT64, num(0), num(l.resource), at(s.put(value)), num(0))
		}
	}
}

// launch forks the program, puts it into its bounds and starts it.
func (s *script) launch(j *job) {
	s.do(label{stepProgram, "forking"}, callFork)
	self := s.put([]byte("0\n"))
	for i := range j.files.join {
		s.do(label{step: stepJoin}, unix.SYS_WRITE, num(joinAt+i), at(self), num(2))
	}
	s.limit(j, func(resource int) bool { return resource != unix.RLIMIT_CORE })
	l := label{stepProgram, filepath.Clean(j.path)}
	s.do(l, unix.SYS_SETSID)
	s.do(l, unix.SYS_RT_SIGPROCMASK, num(unix.SIG_SETMASK), at(s.put(make([]byte, 8))), num(0), num(8))
	s.do(l, unix.SYS_EXECVE, s.text(j.path), s.pointers(j.args), s.pointers(j.env))
}
