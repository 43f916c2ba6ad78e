package examples_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/chatui/vttest"
)

// The recording at the head of the README is made here, by a shell on a
// terminal and the program under test:
//
//	go test ./examples -run TestRecording -update
//
// Without -update the same is played, and the words must be those of the
// picture: a recording of what the program no longer says is a lie.
func TestRecording(t *testing.T) {
	const file = "../docs/recording.svg"
	var got *recording
	// What is typed before a question can be read is thrown away. Who types is
	// therefore a little slow, and slower after that happened.
	for _, pause := range []time.Duration{300 * time.Millisecond, 2 * time.Second, 10 * time.Second} {
		if got = record(t, pause); got != nil {
			break
		}
	}
	if got == nil {
		t.Fatal("the question took no answer")
	}
	if cribtest.Updating() {
		if err := os.WriteFile(file, []byte(got.svg()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test ./examples -run TestRecording -update makes it", err)
	}
	if len(text) > 150_000 {
		t.Errorf("the recording has %d bytes; a page should load at once", len(text))
	}
	if want, now := wordsOf(string(text)), wordsOf(got.svg()); want != now {
		t.Errorf("the recording shows what the program no longer says; look at it, and make it anew with -update.\nIt shows:\n%s\nThe program says:\n%s", want, now)
	}
}

const (
	recordColumns, recordRows = 92, 36
	recordPatience            = 2 * time.Minute
)

// record plays the commands of the recording. It gives nil if the answer came too
// early.
func record(t *testing.T, pause time.Duration) *recording {
	t.Helper()
	s := newSession(t)
	dir, err := os.MkdirTemp("/tmp", "notes-") // a short name: it is seen
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for name, text := range map[string]string{"plan.md": "The release is on Monday.\nTell the others.\n", ".env": "KEY=1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	term := openTerminal(t, dir, append(s.env, "PS1=$ ", "TERM=xterm-256color", "COLUMNS=", "ENV="))
	r := &recording{dir: dir}
	prompt := func() {
		t.Helper()
		term.until(t, "a prompt", func(now string) bool { return strings.HasSuffix("\n"+strings.TrimRight(now, "\n"), "\n$") })
	}
	command := func(line string, rest time.Duration) {
		t.Helper()
		prompt()
		term.send(t, line)
		term.until(t, line, func(now string) bool { return strings.HasSuffix(strings.TrimRight(now, "\n"), line) })
		r.add(term.screen, line, time.Duration(len(line))*45*time.Millisecond+600*time.Millisecond)
		term.send(t, "\n")
		if rest > 0 {
			prompt()
			r.add(term.screen, "", rest)
		}
	}
	command("# An agent wants to read a file with keys:", time.Second)
	command("toolcrib call read_file path=.env", 2500*time.Millisecond)
	command("# It wants to change a file. You see the change, and decide:", time.Second)
	command("toolcrib call edit_file path=plan.md old_text=Monday new_text=Friday", 0)
	const ask = "Enter denies:"
	term.until(t, "the question", func(now string) bool { return strings.HasSuffix(strings.TrimRight(now, "\n"), ask) })
	r.add(term.screen, "", 7*time.Second)
	<-time.After(pause)
	term.send(t, "y")
	term.until(t, "the answer", func(now string) bool { return strings.HasSuffix(strings.TrimRight(now, "\n"), ask+" y") })
	r.add(term.screen, "", 1200*time.Millisecond)
	term.send(t, "\n")
	if err := term.screen.Wait(15*time.Second, "Allowed once."); err != nil {
		t.Log(err)
		return nil
	}
	prompt()
	r.add(term.screen, "", 3*time.Second)
	command("# What it did, and what it was refused, is written down:", 800*time.Millisecond)
	command("toolcrib journal", 6*time.Second)
	if odd := term.screen.Odd(); len(odd) > 0 {
		t.Errorf("the terminal was sent %v", odd)
	}
	return r
}

// terminal is a shell on a pseudo-terminal.
type terminal struct {
	master *os.File
	screen *vttest.Screen
}

func openTerminal(t *testing.T, dir string, env []string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	control := func(request uintptr, arg unsafe.Pointer) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(arg)); errno != 0 {
			t.Fatal(errno)
		}
	}
	var unlocked, number int32
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	control(syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := struct{ rows, columns, x, y uint16 }{rows: recordRows, columns: recordColumns}
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-i")
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := errors.Join(cmd.Start(), slave.Close()); err != nil {
		t.Fatal(err)
	}
	term := &terminal{master: master, screen: vttest.New(recordColumns, recordRows)}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		_, _ = io.Copy(term.screen, master) // it ends with an error when the shell has
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		<-shown
		_ = master.Close()
	})
	return term
}

func (term *terminal) send(t *testing.T, keys string) {
	t.Helper()
	if _, err := io.WriteString(term.master, keys); err != nil {
		t.Fatal(err)
	}
}

func (term *terminal) until(t *testing.T, what string, right func(string) bool) {
	t.Helper()
	if err := term.screen.WaitFor(recordPatience, right, what); err != nil {
		t.Fatal(err)
	}
}

// recording is a row of screens, each shown for a while.
type recording struct {
	dir    string // the project, which is /tmp/notes in the picture
	frames []frame
}

type frame struct {
	rows  [][]vttest.Span
	typed string // what is typed on the last row in this time
	shown time.Duration
}

func (r *recording) add(screen *vttest.Screen, typed string, shown time.Duration) {
	r.frames = append(r.frames, frame{screen.Spans(), typed, shown})
}

// Sizes in the picture: a character is 0.6 of its height wide, as in nearly every
// monospaced font, and each text is stretched to that.
const charWidth, lineHeight, margin = 8.4, 19, 16

// svg is the recording as one picture that needs nothing else. Who wants no motion,
// or has no style sheets, sees the last frame.
func (r *recording) svg() string {
	var all time.Duration
	for _, f := range r.frames {
		all += f.shown
	}
	var style, body strings.Builder
	var at time.Duration
	for i, f := range r.frames {
		from, to := 100*at.Seconds()/all.Seconds(), 100*(at+f.shown).Seconds()/all.Seconds()
		last := i == len(r.frames)-1
		fmt.Fprintf(&style, "@keyframes f%d{0%%{visibility:%s}%.2f%%{visibility:visible}", i, map[bool]string{true: "visible", false: "hidden"}[i == 0], from)
		if !last {
			fmt.Fprintf(&style, "%.2f%%,100%%{visibility:hidden}", to)
		}
		fmt.Fprintf(&style, "}#f%d{animation:f%d %.2fs step-end infinite}\n", i, i, all.Seconds())
		fmt.Fprintf(&body, "<g id=\"f%d\"%s>\n", i, map[bool]string{true: "", false: ` visibility="hidden"`}[last])
		typing := typedRow(f)
		for n, row := range f.rows {
			for _, s := range row {
				column, text := s.Column, strings.ReplaceAll(s.Text, r.dir, "/tmp/notes")
				if n == typing && strings.HasSuffix(text, f.typed) {
					before := strings.TrimSuffix(text, f.typed)
					textAt(&body, n, column, before, "d", "")
					width := len(f.typed)
					end := from + (to-from)*0.85
					fmt.Fprintf(&style, "@keyframes t%d{0%%,%.2f%%{clip-path:inset(0 100%% 0 0);animation-timing-function:steps(%d)}%.2f%%,100%%{clip-path:inset(0)}}#t%d{animation:t%d %.2fs infinite}\n", i, from, width, end, i, i, all.Seconds())
					textAt(&body, n, column+len(before), f.typed, classOf(s.Style, text), fmt.Sprintf(` id="t%d"`, i))
					continue
				}
				textAt(&body, n, column, text, classOf(s.Style, text), "")
			}
		}
		body.WriteString("</g>\n")
		at += f.shown
	}
	columns := recordColumns
	width, height := int(charWidth*float64(columns))+2*margin, lineHeight*recordRows+2*margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="A terminal: Toolcrib refuses a protected file, asks before a change, and shows the journal">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee9;white-space:pre}
.b{font-weight:700;fill:#fff}.d{fill:#8b95a7}.r{fill:#ff8f8f}.g{fill:#8fe388}.c{fill:#7fd1ff}.y{fill:#f2cc60}.p{fill:#fff;font-weight:700}.n{fill:#9aa7bd;font-style:italic}
%s@media (prefers-reduced-motion:reduce){g,text{animation:none!important}}
</style>
<rect x="1" y="1" width="%d" height="%d" rx="8" fill="#12161f" stroke="#5b6575"/>
%s</svg>
`, width, height, width, height, style.String(), width-2, height-2, body.String())
}

// typedRow is the row on which something is typed, or -1.
func typedRow(f frame) int {
	if f.typed == "" {
		return -1
	}
	last := -1
	for n, row := range f.rows {
		if len(row) > 0 {
			last = n
		}
	}
	return last
}

// classOf says how a text looks: as the program wants it, or as what a person typed.
func classOf(style, text string) string {
	if style == "" && strings.HasPrefix(text, "$ #") || strings.HasPrefix(text, "# ") {
		return "n"
	}
	if style == "" && strings.HasPrefix(text, "$ ") {
		return "p"
	}
	for _, c := range []struct{ number, class string }{{"31", "r"}, {"32", "g"}, {"36", "c"}, {"33", "y"}, {"1", "b"}, {"2", "d"}} {
		if strings.Contains(";"+style+";", ";"+c.number+";") {
			return c.class
		}
	}
	return ""
}

func textAt(b *strings.Builder, row, column int, text, class, more string) {
	column += len(text) - len(strings.TrimLeft(text, " "))
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	if class != "" {
		more += fmt.Sprintf(` class=%q`, class)
	}
	long := len([]rune(text))
	if long > 1 {
		more += fmt.Sprintf(` textLength="%.1f"`, float64(long)*charWidth)
	}
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\"%s>%s</text>\n", margin+float64(column)*charWidth, margin+14+row*lineHeight, more,
		strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text))
}

// wordsOf gives what stands in a picture, without what differs from run to run.
func wordsOf(svg string) string {
	var out strings.Builder
	for _, m := range regexp.MustCompile(`<text[^>]* y="(\d+)"[^>]*>([^<]*)</text>`).FindAllStringSubmatch(svg, -1) {
		line := m[2]
		for _, r := range []struct{ pattern, word string }{
			{`\bq-[a-z0-9]{6,}`, "QUESTION"},
			{`\b\d\d:\d\d:\d\d\b`, "HOUR"},
			{`\b[0-9a-f]{8}(-[0-9a-f]{1,4})*\b`, "ID"},
			{`for \S+, by cli`, "for WHO, by cli"},
		} {
			line = regexp.MustCompile(r.pattern).ReplaceAllString(line, r.word)
		}
		out.WriteString(m[1] + " " + steady(line) + "\n")
	}
	return out.String()
}
