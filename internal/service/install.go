package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Install writes a service down, has it start now and at every log-in, and says
// what it did. Done once more it changes nothing. Where no manager runs, as in a
// container, the file is written and Done.Run has the rest. With dry, nothing is
// done, and Done says what would be.
func Install(ctx context.Context, n Needs, u Unit, dry bool) (Done, error) {
	if err := u.check(); err != nil {
		return Done{}, err
	}
	m, err := n.manager()
	if err != nil {
		return Done{}, fmt.Errorf("%w. %s", err, ByHand(n.GOOS, u))
	}
	d := Done{Service: m.service(u.Name)}
	if d.File, err = m.file(u.Name); err != nil {
		return d, err
	}
	if d.Text, err = m.text(u); err != nil {
		return d, err
	}
	now, there, err := read(d.File)
	switch {
	case err != nil:
		return d, err
	case there && !isMarked(now):
		return d, fmt.Errorf("%s: %w. Move it away, and this command writes a new one", d.File, ErrChanged)
	}
	d.Changed = now != d.Text
	noManager := m.alive(ctx)
	state := State{}
	if noManager == nil {
		m.ask(ctx, &state, u.Name)
		d.Notes = m.notes(ctx)
	}
	starts := noManager == nil && (d.Changed || !state.Running || !state.Enabled)
	if noManager != nil {
		d.Run = m.byHand(u.Name, true)
		d.Notes = append(d.Notes, "It is not started, because your service manager does not answer here: "+noManager.Error(), "You can also start it yourself: "+commandLine(append([]string{u.Program}, u.Args...)))
	}
	d.Running = state.Running
	say := d.saying(dry)
	if d.Changed {
		if !dry {
			if err := os.MkdirAll(filepath.Dir(d.File), 0o700); err != nil {
				return d, err
			}
			if err := durable.Replace(d.File, []byte(d.Text), 0o600); err != nil {
				return d, err
			}
		}
		say(d.File, "written")
	}
	if !starts {
		return d, nil
	}
	if !dry {
		if err := m.start(ctx, u.Name); err != nil {
			return d, fmt.Errorf("%s is written, but was not started: %w. 'toolcrib service status' says more, 'toolcrib service remove' removes it", d.File, err)
		}
		if state = n.settled(ctx, m, u.Name); !state.Running {
			return d, fmt.Errorf("%s is written and was started, but ended at once (%s): 'toolcrib service status' shows its log, 'toolcrib service remove' removes it", d.File, state.Detail)
		}
		d.Running = true
	}
	say(d.Service, "started, and enabled for every log-in")
	return d, nil
}

// settled asks how a service is that was just started, until it has ended or the
// time is over in which one with wrong settings ends.
func (n Needs) settled(ctx context.Context, m manager, name string) State {
	const between = 150 * time.Millisecond
	for left := n.Settle; ; left -= between {
		var state State
		m.ask(ctx, &state, name)
		if !state.Running || left <= 0 {
			return state
		}
		select {
		case <-ctx.Done():
			return state
		case <-time.After(between):
		}
	}
}

// saying notes what is done, or would be.
func (d *Done) saying(dry bool) func(what, how string) {
	would := ""
	if dry {
		would = "would be "
	}
	return func(what, how string) { d.Did = append(d.Did, what+" "+would+how) }
}

// Remove ends a service and takes away what Install wrote, and nothing else. A file
// that a person changed is kept, and the error is [ErrChanged].
func Remove(ctx context.Context, n Needs, name string, dry bool) (Done, error) {
	m, err := n.manager()
	if err != nil {
		return Done{}, err
	}
	d := Done{Service: m.service(name)}
	if d.File, err = m.file(name); err != nil {
		return d, err
	}
	now, there, err := read(d.File)
	if err != nil || !there {
		return d, err
	}
	if !mentionsMark(now) { // somebody's own: it is not even ended
		return d, fmt.Errorf("%s: %w, so it is left as it is", d.File, ErrChanged)
	}
	keep := !isMarked(now)
	noManager := m.alive(ctx)
	say := d.saying(dry)
	if more := d.File + ".d"; n.GOOS == "linux" && exists(more) {
		d.Notes = append(d.Notes, more+" is kept: you made it")
	}
	if noManager != nil {
		d.Run = m.byHand(name, false)
		d.Notes = append(d.Notes, "If it is running, it stays until you log out, because your service manager does not answer here: "+noManager.Error())
	} else {
		if !dry {
			if err := m.stop(ctx, name); err != nil {
				return d, fmt.Errorf("ending %s: %w", d.Service, err)
			}
		}
		say(d.Service, "stopped, and not started at log-in any more")
	}
	if keep {
		return d, fmt.Errorf("%s: %w, so the file is kept. Remove it yourself if you do not need it", d.File, ErrChanged)
	}
	if !dry {
		if err := n.forget(ctx, m, d.File, noManager == nil); err != nil {
			return d, err
		}
	}
	say(d.File, "removed")
	d.Changed = true
	return d, nil
}

// forget removes the file, and what else led to it.
func (n Needs) forget(ctx context.Context, m manager, file string, alive bool) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s, ok := m.(systemd)
	if !ok {
		return nil
	}
	if alive {
		return s.each(ctx, [][]string{{"--user", "daemon-reload"}})
	}
	// The manager itself would have removed the link that enables it.
	link := filepath.Join(filepath.Dir(file), "default.target.wants", filepath.Base(file))
	if info, err := os.Lstat(link); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return os.Remove(link)
	}
	return nil
}

// read gives what stands in the file of a service. What is no ordinary file, such
// as the link that masks a unit, is somebody's own.
func read(file string) (text string, there bool, err error) {
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	if !info.Mode().IsRegular() {
		return "", true, nil
	}
	const most = 1 << 20
	content, err := plainfile.Begin(file, most)
	return string(content), true, err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
