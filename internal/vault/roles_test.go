package vault

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// playRole is what a child process does. Its arguments are the store, the
// directory of its keyring, and more by role; values never are.
func playRole(role string, args []string) error {
	ctx := context.Background()
	keys := fromRing(fileRing(args[1]))
	v := at(args[0], keys)
	switch role {
	case "set": // sets A to one number after the other until it is killed
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		fmt.Println("ready")
		for ; ; n++ {
			if err := v.Set(ctx, named("A"), numbered(n)); err != nil {
				return err
			}
			fmt.Println(n)
		}
	case "rotate": // rotates until it is killed
		fmt.Println("ready")
		for {
			r, err := v.Rotate(ctx, keys)
			if err != nil {
				return err
			}
			fmt.Println(r.New)
		}
	case "die at begin", "die at set", "die at remove", "die at rotate":
		left, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		step := func(string) {
			if left--; left < 0 {
				die()
			}
		}
		r := fileRing(args[1])
		keys = fromRing(ring{
			get: r.get,
			set: func(service, user, text string) error {
				step("")
				defer step("")
				return r.set(service, user, text)
			},
			remove: func(service, user string) error {
				step("")
				defer step("")
				return r.remove(service, user)
			},
		})
		v = at(args[0], keys)
		v.store.replace.At = func(p durable.Point) { step(string(p)) }
		switch role {
		case "die at remove":
			return v.Remove(ctx, named("A"))
		case "die at rotate":
			_, err = v.Rotate(ctx, keys)
			return err
		}
		return v.Set(ctx, named("A"), "new")
	case "set many": // sets names of its own
		fmt.Println("ready")
		if _, err := io.ReadAll(os.Stdin); err != nil { // all begin at once
			return err
		}
		for i := range manyEach {
			ref := named(fmt.Sprintf("%s-%d", args[2], i))
			if err := v.Set(ctx, ref, ref.Name); err != nil {
				return err
			}
		}
		return nil
	case "modes":
		return watchModes(v, keys)
	case "command line": // the value comes by standard input
		value, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		if err := v.Set(ctx, named("A"), string(value)); err != nil {
			return err
		}
		if _, err := v.Rotate(ctx, keys); err != nil {
			return err
		}
		line, err := os.ReadFile("/proc/self/cmdline")
		if err != nil {
			return err
		}
		if hides(string(line), string(value)) || hides(string(line), v.key.text) {
			return fmt.Errorf("the command line has a secret")
		}
		return nil
	}
	return fmt.Errorf("unknown role %s", role)
}

// numbered is a value of some size that tells its number, and that no other
// number's value could be taken for, whole or in part.
func numbered(n int) string { return strings.Repeat(fmt.Sprintf("<%d>", n), 500) }

// die ends this process as kill -9 does.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}
