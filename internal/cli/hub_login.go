package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) hubLoginCmd() *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use: "login NAME", Short: "Log in to a server with your browser; the token is kept in the vault",
		Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeServer,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("port") && (port < 1 || port > 65535) {
				return usagef("--port is %d: want a port, from 1 to 65535", port)
			}
			return c.hubLogin(cmd.Context(), args[0], port)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "the port that the login page sends its answer to, instead of oauth.redirect_port")
	return cmd
}

// hubLogin logs in. Port: where the login page sends its answer; 0: as the
// settings say.
func (c *command) hubLogin(ctx context.Context, name string, port int) (err error) {
	a, err := c.alone(ctx, name, func(s *settings.MCPServer) {
		if port > 0 {
			s.OAuth.RedirectURL, s.OAuth.RedirectPort = withPort(s.OAuth.RedirectURL, port)
		}
	})
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
	if s.Again {
		fmt.Fprintf(c.out, "%s no longer knew the client that was registered with it, so another one was registered.\n", text.ShowLine(s.Issuer))
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

// withPort puts a port into the redirect address of the settings; if there is
// none, the port alone is a setting.
func withPort(address string, port int) (redirect string, only int) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "", port
	}
	u.Host = net.JoinHostPort(u.Hostname(), strconv.Itoa(port))
	return u.String(), 0
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
