//go:build amd64 || arm64

package linux

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A filter is a program for a small machine, and the kernel that runs it is of one
// architecture. These tests run it themselves, for both.

// asked is a system call as the kernel shows it to a filter.
type asked struct {
	arch, number uint32
	args         [6]uint64
}

// interpret runs a filter as the kernel does. It fails on whatever the kernel's own
// check would refuse: a jump out of the program, a word that is not there.
func interpret(p []unix.SockFilter, c asked) (uint32, error) {
	data := make([]byte, 64)
	binary.LittleEndian.PutUint32(data, c.number)
	binary.LittleEndian.PutUint32(data[4:], c.arch)
	for i, a := range c.args {
		binary.LittleEndian.PutUint64(data[16+8*i:], a)
	}
	var acc uint32
	for at := 0; at < len(p); at++ { // it only goes forward, so that it ends
		in := p[at]
		jump := func(yes bool) {
			if yes {
				at += int(in.Jt)
			} else {
				at += int(in.Jf)
			}
		}
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			if in.K%4 != 0 || in.K+4 > uint32(len(data)) {
				return 0, fmt.Errorf("%d loads a word at %d", at, in.K)
			}
			acc = binary.LittleEndian.Uint32(data[in.K:])
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= in.K
		case unix.BPF_JMP | unix.BPF_JA:
			at += int(in.K)
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			jump(acc == in.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			jump(acc >= in.K)
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			jump(acc&in.K != 0)
		case unix.BPF_RET | unix.BPF_K:
			return in.K, nil
		default:
			return 0, fmt.Errorf("%d is %#x, which no filter here uses", at, in.Code)
		}
	}
	return 0, fmt.Errorf("it runs off its end")
}

// architectures are those that there are filters for.
func architectures() map[string]arch { return map[string]arch{"amd64": amd64(), "arm64": arm64()} }

// judge says what a filter does with a call, by name.
func judge(t *testing.T, a arch, rules filterRules, name string, args ...uint64) uint32 {
	t.Helper()
	number := numbers()[name][a.at]
	if number < 0 {
		t.Fatalf("there is no %s", name)
	}
	c := asked{arch: a.audit, number: uint32(number)}
	copy(c.args[:], args)
	got, err := interpret(filter(a, rules).list, c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestFilterRefuses(t *testing.T) {
	type call struct {
		name string
		args []uint64
		want uint32
	}
	var calls []call
	each := func(want uint32, names []string) {
		for _, name := range names {
			calls = append(calls, call{name, nil, want}, call{name, []uint64{1 << 63, 1<<63 | 1, ^uint64(0), 3, 4, 5}, want})
		}
	}
	each(refuse(unix.EPERM), denied())
	each(refuse(unix.ENOSYS), missing())
	each(refuse(unix.ENOSYS), unaccounted())
	each(refuse(unix.EOPNOTSUPP), labels())
	const high = 1 << 40 // the upper half of a word is not looked at by the kernel where it takes an int
	add := func(want uint32, name string, args ...uint64) { calls = append(calls, call{name, args, want}) }
	add(allow, "socket", unix.AF_INET)
	add(allow, "socket", unix.AF_INET6)
	add(allow, "socket", unix.AF_INET|high)
	add(allow, "socket", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
	add(refuse(unix.EPROTONOSUPPORT), "socket", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER)
	add(refuse(unix.EPROTONOSUPPORT), "socket", unix.AF_NETLINK|high, unix.SOCK_RAW, unix.NETLINK_AUDIT|high)
	for _, family := range []uint64{unix.AF_UNIX, unix.AF_PACKET, unix.AF_ALG, unix.AF_VSOCK, unix.AF_XDP, unix.AF_TIPC, unix.AF_BLUETOOTH, unix.AF_UNIX | high, 0, 0xffffffff} {
		add(refuse(unix.EAFNOSUPPORT), "socket", family)
	}
	add(allow, "socketpair", unix.AF_UNIX)
	add(refuse(unix.EAFNOSUPPORT), "socketpair", unix.AF_TIPC)
	for _, command := range []uint64{unix.F_SETLEASE, 1024 + 16, unix.F_SETLEASE | high} {
		add(refuse(unix.EPERM), "fcntl", 3, command)
	}
	add(allow, "fcntl", 3, unix.F_SETFL)
	add(allow, "fcntl", unix.F_SETLEASE, unix.F_GETFD) // a descriptor with that number
	add(allow, "ioctl", 3, unix.FICLONE)
	add(allow, "ioctl", 3, unix.TIOCGWINSZ)
	add(refuse(unix.EPERM), "ioctl", 3, 0x50009401) // a snapshot of btrfs
	add(refuse(unix.EPERM), "ioctl", 3, 0x4004bc10) // and of bcachefs
	add(refuse(0), "setrlimit", unix.RLIMIT_CORE)
	add(allow, "setrlimit", unix.RLIMIT_NOFILE)
	add(refuse(0), "prlimit64", 0, unix.RLIMIT_CORE, 0x7fff0000)
	add(refuse(0), "prlimit64", 0, unix.RLIMIT_CORE, high) // its lower half is zero
	add(allow, "prlimit64", 0, unix.RLIMIT_CORE, 0)
	add(allow, "prlimit64", 0, unix.RLIMIT_NOFILE, 0x7fff0000)
	for _, flag := range []uint64{unix.CLONE_NEWUSER, unix.CLONE_NEWNS, unix.CLONE_NEWNET, unix.CLONE_NEWPID, unix.CLONE_NEWIPC, unix.CLONE_NEWUTS, unix.CLONE_NEWCGROUP} {
		add(refuse(unix.EPERM), "clone", flag|uint64(unix.SIGCHLD))
	}
	add(allow, "clone", unix.CLONE_VM|unix.CLONE_THREAD|unix.CLONE_SIGHAND)
	for _, m := range modedCalls() {
		for mode, want := range map[uint64]uint32{0o755: allow, 0o1777: allow, 0o4755: refuse(unix.EPERM), 0o2755: refuse(unix.EPERM), 0o6755 | high: refuse(unix.EPERM)} {
			args := make([]uint64, m.mode+1)
			args[m.mode] = mode
			add(want, m.call, args...)
		}
	}
	for _, o := range opens() {
		for flags, want := range map[uint64]uint32{
			unix.O_RDONLY: allow, unix.O_CREAT: refuse(unix.EPERM), unix.O_CREAT | unix.O_RDWR: refuse(unix.EPERM),
			0x400000: refuse(unix.EPERM), // O_TMPFILE without the bit for directories, which differs
		} {
			args := make([]uint64, o.mode+1)
			args[o.mode-1], args[o.mode] = flags, 0o4755
			add(want, o.call, args...)
			args = slices.Clone(args)
			args[o.mode] = 0o644
			add(allow, o.call, args...)
		}
	}
	for value, want := range map[uint64]uint32{0: allow, 8: allow, 0xffffffff: allow, fixedAddresses: allow, 0x400000: refuse(unix.EPERM)} {
		add(want, "personality", value)
	}
	for arch, a := range architectures() {
		t.Run(arch, func(t *testing.T) {
			for _, c := range calls {
				if numbers()[c.name][a.at] < 0 {
					continue // it has no such call, and no filter speaks of it
				}
				if got := judge(t, a, filterRules{}, c.name, c.args...); got != c.want {
					t.Errorf("%s%#x: %#x, want %#x", c.name, c.args, got, c.want)
				}
			}
			if judge(t, a, filterRules{unixSockets: true}, "socket", unix.AF_UNIX) != allow || judge(t, a, filterRules{anonymous: true}, "memfd_create") != allow {
				t.Error("a rule changes nothing")
			}
		})
	}
}

// TestFilterByNumber: whatever has no name in a filter is allowed, whatever comes from
// another architecture is not there, and every filter is one that the kernel takes.
func TestFilterByNumber(t *testing.T) {
	for arch, a := range architectures() {
		named := map[uint32]bool{}
		for _, n := range numbers() {
			if n[a.at] >= 0 {
				named[uint32(n[a.at])] = true
			}
		}
		for bits := range 4 {
			p := filter(a, filterRules{unixSockets: bits&1 != 0, anonymous: bits&2 != 0}).list
			if len(p) > 4096 {
				t.Fatalf("%s: %d instructions", arch, len(p))
			}
			for n := range uint32(1024) {
				got, err := interpret(p, asked{arch: a.audit, number: n})
				if err != nil || !named[n] && got != allow {
					t.Fatalf("%s: call %d: %#x, %v", arch, n, got, err)
				}
				for _, other := range []uint32{0, unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, unix.AUDIT_ARCH_RISCV64, amd64().audit ^ arm64().audit ^ a.audit} {
					if got, err := interpret(p, asked{arch: other, number: n}); err != nil || got != refuse(unix.ENOSYS) {
						t.Fatalf("%s: call %d by %#x: %#x, %v", arch, n, other, got, err)
					}
				}
				if got, err := interpret(p, asked{arch: a.audit, number: n | x32Numbers}); err != nil || got != refuse(unix.ENOSYS) {
					t.Fatalf("%s: call %d of x32: %#x, %v", arch, n, got, err)
				}
			}
		}
	}
}

// TestNumbers holds the table against the lists of the package that talks to the
// kernel, for both architectures.
func TestNumbers(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^\s*SYS_(\w+)\s*=\s*(\d+)`)
	for arch, a := range architectures() {
		text, err := os.ReadFile(filepath.Join(string(bytes.TrimSpace(dir)), "unix", "zsysnum_linux_"+arch+".go"))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int32{}
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			want[strings.ToLower(m[1])] = int32(n)
		}
		for _, name := range slices.Sorted(maps.Keys(numbers())) {
			n, there := want[name]
			if !there {
				n = -1
			}
			if got := numbers()[name][a.at]; got != n {
				t.Errorf("%s on %s is %d, not %d", name, arch, n, got)
			}
		}
	}
}

// FuzzFilter: no call makes a filter run off its end or say something else than it can.
func FuzzFilter(f *testing.F) {
	f.Add(uint32(unix.AUDIT_ARCH_X86_64), uint32(41), uint64(16), uint64(3), uint64(0), uint8(0))
	f.Add(uint32(unix.AUDIT_ARCH_AARCH64), uint32(56), uint64(1), uint64(2), uint64(0o4755), uint8(7))
	answers := []uint32{allow, refuse(0), refuse(unix.EPERM), refuse(unix.ENOSYS), refuse(unix.EOPNOTSUPP), refuse(unix.EAFNOSUPPORT), refuse(unix.EPROTONOSUPPORT)}
	f.Fuzz(func(t *testing.T, archOf, number uint32, a, b, c uint64, bits uint8) {
		for _, on := range architectures() {
			p := filter(on, filterRules{unixSockets: bits&1 != 0, anonymous: bits&2 != 0}).list
			got, err := interpret(p, asked{archOf, number, [6]uint64{a, b, c, a ^ b, b ^ c, c}})
			if err != nil || !slices.Contains(answers, got) || got == allow && archOf != on.audit {
				t.Fatalf("%#x, %v", got, err)
			}
		}
	})
}
