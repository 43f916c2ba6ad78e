package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) hubLogin(ctx context.Context, name string) (err error) {
	a, err := c.alone(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	b, _ := a.Hub.Box(name)
	s, err := b.LogIn(ctx)
	if err != nil {
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
	}
	if c.asJSON(false) {
		return c.printJSON(s)
	}
	fmt.Fprintf(c.out, "Logged in to %s at %s", name, text.ShowLine(s.Issuer))
	if len(s.Scopes) > 0 {
		fmt.Fprintf(c.out, ", for %s", text.ShowLine(strings.Join(s.Scopes, " ")))
	}
	switch {
	case s.Renewed:
		fmt.Fprintln(c.out, ". The login is renewed by itself.")
	case !s.Expires.IsZero():
		fmt.Fprintf(c.out, ". It holds until %s.\n", s.Expires.Local().Format(time.DateTime))
	default:
		fmt.Fprintln(c.out, ".")
	}
	return nil
}

func (c *command) hubLogout(ctx context.Context, name string) (err error) {
	a, err := c.alone(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	b, _ := a.Hub.Box(name)
	if err := b.LogOut(ctx); err != nil {
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
	}
	fmt.Fprintf(c.out, "The login to %s is forgotten.\n", name)
	return nil
}

// showPage opens a page in the person's browser, and says where it is in case
// there is none. Only addresses of the web are opened, and never by a shell.
func (c *command) showPage(ctx context.Context, page string) error {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("the page to log in at is no address of the web")
	}
	fmt.Fprintf(c.err, "Log in on this page:\n\n  %s\n\n", text.ShowLine(u.String()))
	name, args := "xdg-open", []string{u.String()}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", u.String()}
	}
	if path, err := c.programs.Look(name); err == nil {
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Dir = c.home() // not the project: what lies there must not be found by a program that looks around
		if cmd.Start() == nil {
			go func() { _ = cmd.Wait() }() // the address is shown besides, so it does not matter how it ends
		}
	}
	return nil
}
