package worker

import "syscall"

// largest is the most memory that one of the workers had, in KiB. They have to be gone.
func (p *processes) largest() (most int64) {
	for _, cmd := range p.cmds {
		if cmd.ProcessState == nil {
			continue
		}
		if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			most = max(most, used.Maxrss)
		}
	}
	return most
}
