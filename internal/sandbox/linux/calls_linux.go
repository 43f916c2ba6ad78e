//go:build amd64 || arm64

package linux

import "golang.org/x/sys/unix"

// denied gives EPERM.
func denied() []string {
	return []string{
		"mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount",
		"fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "open_tree_attr",
		"unshare", "setns",
		"process_madvise", "pidfd_getfd",
		"bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key",
		"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
		"reboot", "swapon", "swapoff", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
		"acct", "quotactl", "quotactl_fd", "syslog", "vhangup", "open_by_handle_at", "fanotify_init",
		"sethostname", "setdomainname", "lookup_dcookie", "nfsservctl", "migrate_pages", "move_pages",
		// These only amd64 has.
		"iopl", "ioperm", "modify_ldt", "_sysctl", "uselib", "ustat", "sysfs", "create_module", "get_kernel_syms", "query_module",
	}
}

// missing gives ENOSYS, so that programs take the way they had before the call
// was invented: clone3 and openat2 hide their flags from a filter, io_uring
// does by the kernel's hand what a filter would have refused.
func missing() []string {
	return []string{"clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register", "memfd_secret",
		"io_setup"} // of these the machine has few
}

// unaccounted is memory that belongs to no process, so that only a cgroup can
// bound it. Programs use a file in /tmp instead.
func unaccounted() []string { return []string{"memfd_create", "shmget"} }

// labels gives EOPNOTSUPP, as a file system without them does, on which cp and
// tar go on. A default access list on a directory would count for every file
// that a person makes there, whatever the umask says, and a filter cannot read
// which label is meant.
func labels() []string {
	return []string{"setxattr", "lsetxattr", "fsetxattr", "setxattrat",
		"removexattr", "lremovexattr", "fremovexattr", "removexattrat"}
}

// moded is a call that takes a mode, or another number that matters, and where.
type moded struct {
	call string
	mode int
}

func modedCalls() []moded {
	return []moded{{"fchmod", 1}, {"fchmodat", 2}, {"fchmodat2", 2}, {"mknodat", 2}, {"chmod", 1}, {"creat", 1}, {"mknod", 1}}
}

// opens take a mode right after their flags.
func opens() []moded { return []moded{{"openat", 3}, {"open", 2}} }

// arch is an architecture that a filter is for. Which one runs is known when this is
// built; but a filter is text, and tests read those of both.
type arch struct {
	audit uint32 // how the kernel calls it
	at    int    // its place in the table of numbers
}

func amd64() arch { return arch{unix.AUDIT_ARCH_X86_64, 0} }
func arm64() arch { return arch{unix.AUDIT_ARCH_AARCH64, 1} }

// numbers of the calls that a filter names, on amd64 and on arm64; -1: it has none.
func numbers() map[string][2]int32 {
	return map[string][2]int32{
		"_sysctl":           {156, -1},
		"acct":              {163, 89},
		"add_key":           {248, 217},
		"adjtimex":          {159, 171},
		"bpf":               {321, 280},
		"chmod":             {90, -1},
		"chroot":            {161, 51},
		"clock_adjtime":     {305, 266},
		"clock_settime":     {227, 112},
		"clone":             {56, 220},
		"clone3":            {435, 435},
		"creat":             {85, -1},
		"create_module":     {174, -1},
		"delete_module":     {176, 106},
		"fanotify_init":     {300, 262},
		"fchmod":            {91, 52},
		"fchmodat":          {268, 53},
		"fchmodat2":         {452, 452},
		"fcntl":             {72, 25},
		"finit_module":      {313, 273},
		"fremovexattr":      {199, 16},
		"fsconfig":          {431, 431},
		"fsetxattr":         {190, 7},
		"fsmount":           {432, 432},
		"fsopen":            {430, 430},
		"fspick":            {433, 433},
		"get_kernel_syms":   {177, -1},
		"init_module":       {175, 105},
		"io_setup":          {206, 0},
		"io_uring_enter":    {426, 426},
		"io_uring_register": {427, 427},
		"io_uring_setup":    {425, 425},
		"ioctl":             {16, 29},
		"ioperm":            {173, -1},
		"iopl":              {172, -1},
		"kexec_file_load":   {320, 294},
		"kexec_load":        {246, 104},
		"keyctl":            {250, 219},
		"lookup_dcookie":    {212, 18},
		"lremovexattr":      {198, 15},
		"lsetxattr":         {189, 6},
		"memfd_create":      {319, 279},
		"memfd_secret":      {447, 447},
		"migrate_pages":     {256, 238},
		"mknod":             {133, -1},
		"mknodat":           {259, 33},
		"modify_ldt":        {154, -1},
		"mount":             {165, 40},
		"mount_setattr":     {442, 442},
		"move_mount":        {429, 429},
		"move_pages":        {279, 239},
		"nfsservctl":        {180, 42},
		"open":              {2, -1},
		"open_by_handle_at": {304, 265},
		"open_tree":         {428, 428},
		"open_tree_attr":    {467, 467},
		"openat":            {257, 56},
		"openat2":           {437, 437},
		"perf_event_open":   {298, 241},
		"personality":       {135, 92},
		"pidfd_getfd":       {438, 438},
		"pivot_root":        {155, 41},
		"prlimit64":         {302, 261},
		"process_madvise":   {440, 440},
		"query_module":      {178, -1},
		"quotactl":          {179, 60},
		"quotactl_fd":       {443, 443},
		"reboot":            {169, 142},
		"removexattr":       {197, 14},
		"removexattrat":     {466, 466},
		"request_key":       {249, 218},
		"setdomainname":     {171, 162},
		"sethostname":       {170, 161},
		"setns":             {308, 268},
		"setrlimit":         {160, 164},
		"settimeofday":      {164, 170},
		"setxattr":          {188, 5},
		"setxattrat":        {463, 463},
		"shmget":            {29, 194},
		"socket":            {41, 198},
		"socketpair":        {53, 199},
		"swapoff":           {168, 225},
		"swapon":            {167, 224},
		"sysfs":             {139, -1},
		"syslog":            {103, 116},
		"umount2":           {166, 39},
		"unshare":           {272, 97},
		"uselib":            {134, -1},
		"userfaultfd":       {323, 282},
		"ustat":             {136, -1},
		"vhangup":           {153, 58},
	}
}
