package host

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// job holds a program and all that it starts: cmd.exe, which runs every .cmd such as
// npx, does not end its children when it is ended itself. Windows ends what is in it
// when its last handle is closed, so also when this program dies.
type job struct{ handle windows.Handle }

func newJob() (*job, error) {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making a job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(h, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return nil, errors.Join(fmt.Errorf("setting up a job object: %w", err), windows.CloseHandle(h))
	}
	return &job{h}, nil
}

// take puts a program into the job that was started without running yet, and then
// has it run: so nothing that it starts is left out.
func (j *job) take(pid int) error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(p) }()
	if err := windows.AssignProcessToJobObject(j.handle, p); err != nil {
		return fmt.Errorf("putting it into a job object: %w", err)
	}
	return resume(uint32(pid))
}

// resume lets the threads of a program run.
func resume(pid uint32) error {
	list, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("listing threads: %w", err)
	}
	defer func() { _ = windows.CloseHandle(list) }()
	t := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	resumed := 0
	for err = windows.Thread32First(list, &t); err == nil; err = windows.Thread32Next(list, &t) {
		if t.OwnerProcessID != pid {
			continue
		}
		h, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, t.ThreadID)
		if err != nil {
			return fmt.Errorf("opening its thread: %w", err)
		}
		_, err = windows.ResumeThread(h)
		if err := errors.Join(err, windows.CloseHandle(h)); err != nil {
			return fmt.Errorf("letting it run: %w", err)
		}
		resumed++
	}
	if resumed == 0 {
		return errors.New("it has no thread to let run")
	}
	return nil
}

// end ends all that is in the job.
func (j *job) end() { _ = windows.TerminateJobObject(j.handle, 1) }

func (j *job) close() { _ = windows.CloseHandle(j.handle) }
