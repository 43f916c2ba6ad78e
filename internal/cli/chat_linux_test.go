package cli

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/chatui/vttest"
	"github.com/toolcrib/toolcrib/internal/modeltest"
)

// chatPatience is how long a screen may take: the machine may be busy.
const chatPatience = 60 * time.Second

// chatScript is the model of the chat's tests.
func chatScript(r modeltest.Request) modeltest.Turn {
	asked, since := "", 0
	for _, m := range r.Messages {
		switch m.Role {
		case "user":
			asked, since = m.Text, 0
		case "tool":
			since++
		}
	}
	call := func(text, name, args string) modeltest.Turn {
		return modeltest.Turn{Text: text, Calls: []modeltest.Call{{Name: name, Arguments: args}}, Usage: modeltest.Usage{Input: 1200, Output: 40}}
	}
	say := func(text string) modeltest.Turn {
		return modeltest.Turn{Text: text, Usage: modeltest.Usage{Input: 1300, Output: 60}}
	}
	switch {
	case strings.Contains(asked, "somebody") && since == 0:
		return call("", "delegate_to_avatar", `{"avatar_id":"worker","task":"Make greet.txt polite."}`)
	case strings.Contains(asked, "somebody") && since == 1:
		id := regexp.MustCompile(`"agent_id": ?"[^"]+"`).FindString(r.Messages[len(r.Messages)-1].Text)
		return call("", "query_subagent_status", "{"+id+`,"wait_seconds":60}`)
	case strings.Contains(asked, "somebody"):
		return say("It was done by somebody.")
	case strings.Contains(asked, "tasks") && since == 0:
		return call("", "todo_write", `{"items":[{"content":"bake bread","status":"completed"},{"content":"eat it","status":"in_progress"}]}`)
	case strings.Contains(asked, "polite") && since == 0:
		return call("I look at the file first.", "read_file", `{"path":"greet.txt"}`)
	case strings.Contains(asked, "polite") && since == 1:
		return call("", "edit_file", `{"path":"greet.txt","old_text":"hello, you","new_text":"Good morning"}`)
	case strings.Contains(asked, "polite"):
		return say("Done. `greet.txt` now says **Good morning**, in three lines as before:\n\n- the greeting,\n- the question, and\n- 日本語 with an emoji 🎉")
	case strings.Contains(asked, "build") && since == 0:
		return call("I would remove the folder.", "run_command", `{"command":"rm -rf build"}`)
	case strings.Contains(asked, "build"):
		return say("All right, I leave it as it is.")
	case strings.Contains(asked, "story"):
		t := say("Once upon a time there was a tool crib in which every tool hung in its place, and")
		t.Hang = 7
		return t
	case strings.Contains(asked, "evil"):
		return say("Look: \x1b]52;c;ZXZpbA==\x07\x1b[2J\u202eevil\u202c.")
	}
	return say("You had the greeting made polite.")
}

// chatPlace is a home and a project for a chat.
func chatPlace(t *testing.T) (h household, project string) {
	t.Helper()
	server := modeltest.NewFunc(t, chatScript)
	h = newHousehold(t, "TERM=xterm-256color", "LANG=C.UTF-8", "USER=ada")
	project = filepath.Join(t.TempDir(), "project")
	for name, content := range map[string]string{
		filepath.Join(h.dir, "config.yaml"):    "models:\n  scripted:\n    base_url: " + server.Base("openai") + "\n    model: tiny-1\n    context: 32000\n    prices: {input: 3, output: 15}\nagents:\n  lead: {delegates: [worker]}\n  worker: {role: writes}\ntoolboxes:\n  shell: {allow_shell: true, ask: true}\n",
		filepath.Join(project, "greet.txt"):    "hello, you\nhow are you?\nbye\n",
		filepath.Join(project, "build", "x.o"): "x",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h, project
}

// chatting is the program on a terminal.
type chatting struct {
	t      *testing.T
	master *os.File
	screen *vttest.Screen
	cmd    *exec.Cmd
	rows   int
	ended  chan struct{}
}

func startChat(t *testing.T, h household, project string, columns, rows int, env []string, args ...string) *chatting {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "toolcrib", append([]string{"chat"}, args...)...)
	cmd.Dir, cmd.Env = project, slices.Concat(h.env, env)
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var unlocked, number int32
	ioctl(t, master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	ioctl(t, master, syscall.TIOCGPTN, unsafe.Pointer(&number))
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &chatting{t: t, master: master, screen: vttest.New(columns, rows), cmd: cmd, rows: rows, ended: make(chan struct{})}
	c.size(columns, rows)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := slave.Close(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		_, _ = io.Copy(c.screen, master) // it ends with an error when the program has
	}()
	t.Cleanup(func() { master.Close() })
	return c
}

func (c *chatting) size(columns, rows int) {
	c.t.Helper()
	size := struct{ rows, columns, x, y uint16 }{rows: uint16(rows), columns: uint16(columns)}
	ioctl(c.t, c.master, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
}

func (c *chatting) press(keys string) {
	c.t.Helper()
	if _, err := io.WriteString(c.master, keys); err != nil {
		c.t.Fatal(err)
	}
}

func (c *chatting) wait(texts ...string) {
	c.t.Helper()
	if err := c.screen.Wait(chatPatience, texts...); err != nil {
		c.t.Fatal(err)
	}
}

// settled waits until no turn runs.
func (c *chatting) settled() {
	c.t.Helper()
	if err := c.screen.WaitFor(chatPatience, func(now string) bool { return !strings.Contains(now, "ctrl-c stops") }, "that the turn is over"); err != nil {
		c.t.Fatal(err)
	}
}

// leave ends the chat and looks at how it ended.
func (c *chatting) leave() {
	c.t.Helper()
	c.press("\x04")
	c.gone()
}

func (c *chatting) gone() {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(chatPatience):
		c.t.Fatalf("it did not end:\n%s", c.screen)
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("%v:\n%s", err, c.screen.All())
	}
	if odd := c.screen.Odd(); len(odd) > 0 {
		c.t.Errorf("the terminal was sent %v", odd)
	}
}

var updateChat = flag.Bool("update-chat", false, "write the golden screens of the chat anew")

// golden holds the screen against the one that is kept. Times and the person's name are
// others each time.
func (c *chatting) golden(name string) {
	c.t.Helper()
	// The last rows of all that was shown: how far it has scrolled depends on whether a
	// row that says that the agent thinks was there for a moment.
	rows := strings.Split(strings.TrimRight(c.screen.All(), "\n"), "\n")
	got := strings.TrimLeft(strings.Join(rows[max(len(rows)-c.rows+2, 0):], "\n"), "\n") + "\n"
	got = regexp.MustCompile(`\d+(\.\d)? s\b`).ReplaceAllString(got, "0.1 s")
	got = regexp.MustCompile(`for \w+, by chat`).ReplaceAllString(got, "for ada, by chat")
	got = regexp.MustCompile(`/\S+/project/`).ReplaceAllString(got, "…/project/")
	got = regexp.MustCompile(`\b[0-9a-f]{32}\b`).ReplaceAllString(got, "…") // a digest of paths
	file := filepath.Join("testdata", "chat", name+".txt")
	if *updateChat {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			c.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		c.t.Errorf("%s is another screen (-want +got); 'go test ./internal/cli -run Chat -update-chat' writes it anew:\n%s", name, diff)
	}
}

// TestChatScreens is an afternoon with the chat: an edit that one key approves, a
// command that is refused, ctrl-c in mid-stream, another mode, and a session that is
// gone on with.
func TestChatScreens(t *testing.T) {
	h, project := chatPlace(t)
	c := startChat(t, h, project, 80, 24, nil)
	c.wait("›", "scripted · default")
	c.golden("1-start")
	c.press("Make greet.txt polite.\r")
	c.wait("y yes, once", "+Good morning")
	c.golden("2-edit-asked")
	c.press("y")
	c.wait("🎉")
	c.settled()
	c.golden("3-edit-done")
	if got, err := os.ReadFile(filepath.Join(project, "greet.txt")); err != nil || !strings.HasPrefix(string(got), "Good morning\n") {
		t.Errorf("%q, %v", got, err)
	}
	c.press("Remove the build folder.\r")
	c.wait("rm -rf build", "y yes, once")
	c.press("m")
	c.wait("to the model ›")
	c.press("keep it, please\r")
	c.wait("All right, I leave it as it is.")
	c.settled()
	c.golden("4-command-refused")
	if _, err := os.Stat(filepath.Join(project, "build", "x.o")); err != nil {
		t.Error(err)
	}
	c.press("Tell me a story.\r")
	c.wait("hung in its p")
	c.press("\x03")
	c.wait("Stopped.")
	c.settled()
	c.golden("5-stopped")
	c.press("/mode plan\r")
	c.wait("The mode is plan now.", "scripted · plan")
	c.golden("6-mode")
	c.leave()

	c = startChat(t, h, project, 80, 24, nil, "--resume", "last")
	c.wait("every tool", "›")
	c.press("Where were we?\r")
	c.wait("You had the greeting made polite.")
	c.settled()
	c.golden("7-resumed")
	c.leave()

	c = startChat(t, h, project, 40, 12, []string{"NO_COLOR=1"}, "--resume", "last", "--mode", "plan")
	c.wait("You had the greeting made polite.", "›")
	c.golden("8-small")
	c.press("Show something evil.\r")
	c.wait("[U+202E]evil[U+202C]")
	c.leave()
	if c.screen.Styled() {
		t.Error("NO_COLOR is set, and there are colours")
	}
}

// TestChatPage: the screens of the page are those that were seen.
func TestChatPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/chat.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1-start", "2-edit-asked", "4-command-refused", "5-stopped", "8-small"} {
		screen, err := os.ReadFile(filepath.Join("testdata", "chat", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```text\n"+string(screen)+"```\n") {
			t.Errorf("docs/chat.md does not show %s as it is", name)
		}
	}
}

// TestChatPiped: without a terminal each line is said, and nothing is painted or asked.
func TestChatPiped(t *testing.T) {
	t.Parallel()
	h, project := chatPlace(t)
	cmd := h.command(t, "Where were we?\nMake greet.txt \\\npolite.\n", "chat")
	cmd.Dir = project
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := string(out)
	if !strings.Contains(got, "You had the greeting made polite.\n") || !strings.Contains(got, "nobody is there to be asked") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
	if file, err := os.ReadFile(filepath.Join(project, "greet.txt")); err != nil || !strings.HasPrefix(string(file), "hello") {
		t.Errorf("%q, %v: it was changed though nobody was asked", file, err)
	}
}

// TestChatKnowsItsPlace: what an earlier program asked in vain is asked here when it is
// wanted again; the list of tasks is the one that is kept; models go by the names of the
// settings; tools are those that the model has.
func TestChatKnowsItsPlace(t *testing.T) {
	t.Parallel()
	h, project := chatPlace(t)
	before := h.command(t, "Make greet.txt polite.\n", "chat")
	before.Dir = project
	if out, err := before.Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := startChat(t, h, project, 80, 60, nil)
	c.wait("›", "scripted · default")
	c.press("Make greet.txt polite.\r")
	c.wait("y yes, once", "+Good morning")
	c.press("y")
	c.wait("🎉")
	c.settled()
	c.press("Write down the tasks.\r")
	c.wait("[x] bake bread", "[>] eat it", "You had the greeting made polite.")
	c.settled()
	c.press("/model\r")
	c.wait("✓ scripted")
	c.press("/cost\r")
	c.wait("$0.0")
	c.press("/tools\r")
	c.wait("todo_write")
	c.press("/resume last\r")
	c.wait("Going on with ")
	c.press("/resume last\r")
	c.wait("· todo_write") // what was said is told again
	c.press("/agent lead\r")
	c.wait("lead answers now.")
	c.press("/branch\r")
	c.wait("Going on in a copy", "scripted · lead · default")
	c.press("/agent none\r")
	c.wait("No preset holds now.", "scripted · default")
	c.press("/new\r")
	c.wait("A new conversation.")
	c.press("/todos\r")
	c.wait("The agent has nothing on its list.")
	c.leave()
	if all := c.screen.All(); strings.Contains(all, "read_notes") || strings.Contains(all, "tiny-1") {
		t.Errorf("it shows what nobody can use or type:\n%s", all)
	}
}

// TestChatOfDelegates: what an agent is asked about that was put to work is asked here.
func TestChatOfDelegates(t *testing.T) {
	t.Parallel()
	h, project := chatPlace(t)
	c := startChat(t, h, project, 80, 60, nil, "--agent", "lead")
	c.wait("›", "scripted · lead · default")
	c.press("Have somebody do it.\r")
	c.wait("y yes, once", "+Good morning", "lead/worker")
	c.press("y")
	c.wait("It was done by somebody.")
	c.settled()
	c.leave()
	if got, err := os.ReadFile(filepath.Join(project, "greet.txt")); err != nil || !strings.HasPrefix(string(got), "Good morning\n") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestChatDumb: where a terminal can do nothing, questions are answered on lines.
func TestChatDumb(t *testing.T) {
	t.Parallel()
	h, project := chatPlace(t)
	c := startChat(t, h, project, 80, 40, []string{"TERM=dumb"})
	c.wait("ctrl-d leaves.\n>")
	c.press("Make greet.txt polite.\n")
	c.wait("y yes, once", "+Good morning")
	c.press("y\n")
	c.wait("🎉")
	c.press("/quit\n")
	c.gone()
	if c.screen.Styled() {
		t.Error("there are colours")
	}
}
