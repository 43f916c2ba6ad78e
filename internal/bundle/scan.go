package bundle

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/wording"
)

// Severity says how bad a finding is.
type Severity string

// The severities. Dangerous ones need a word of their own from the person.
const (
	Info      Severity = "info"
	Caution   Severity = "caution"
	Dangerous Severity = "dangerous"
)

// Finding is something in a file that a person should look at. The scan finds the
// obvious; that it finds nothing says little.
type Finding struct {
	Path     string   `json:"path"`
	Line     int      `json:"line,omitempty"`
	Severity Severity `json:"severity"`
	What     string   `json:"what"`
	Text     string   `json:"text,omitempty"` // the line, as it can be shown
}

// look is one thing that is looked for, line by line.
type look struct {
	severity Severity
	what     string
	in       *pattern.Pattern
}

// looks are the things that are looked for.
func looks() []look {
	return []look{
		{Dangerous, "it runs what it has just fetched", pattern.Of(`(?i)\b(curl|wget|fetch|iwr|invoke-webrequest)\b[^|\n]{0,300}\|\s*(sudo\s+)?(ba|z|da|k)?sh\b|\biex\b[^\n]{0,80}(downloadstring|iwr|invoke-webrequest)|\b(ba|z|da)?sh\s+(-c\s+)?["']?(<\(|\$\()\s*(curl|wget)\b`)},
		{Dangerous, "it runs code that it has just decoded", pattern.Of(`(?i)base64\s+(-d|--decode|-D)[^\n]{0,120}\|\s*(ba|z|da)?sh\b|\b(eval|exec)\s*\(\s*(base64\.b64decode|atob|Buffer\.from|zlib\.decompress|codecs\.decode|bytes\.fromhex)`)},
		{Dangerous, "it opens a shell to another machine", pattern.Of(`(?i)/dev/tcp/[^\s]{3,}|\b(nc|ncat|netcat)\b[^\n]{0,60}\s-[a-z]*e\b|\bsocat\b[^\n]{0,80}exec:|\bmkfifo\b[^\n]{0,120}\bnc\b`)},
		{Dangerous, "it sends keys or files of yours somewhere", pattern.Of(`(?i)(cat|type|tar|zip|base64)\b[^\n]{0,120}(\.ssh/|id_rsa|id_ed25519|\.aws/credentials|\.env\b|\.netrc|\.npmrc|\.git-credentials|keychain|/etc/shadow)[^\n]{0,160}(curl|wget|nc|ncat|http)|(curl|wget)\b[^\n]{0,200}(@|-T\s*|--upload-file\s+|--data[^\s]*\s+@?)[^\n]{0,40}(\.ssh/|id_rsa|id_ed25519|\.aws/|\.env\b|\.netrc)|\b(env|printenv|set)\b\s*\|\s*(curl|wget|nc)\b`)},
		{Dangerous, "it removes everything", pattern.Of(`(?i)\brm\s+-[a-z]*(rf|fr)[a-z]*\s+(--no-preserve-root\s+)?(/|~|\$HOME)(\s|$|/\*)|\bmkfs\.|\bdd\s+[^\n]{0,80}of=/dev/(sd|nvme|disk)`)},
		{Caution, "it reads where keys are kept", pattern.Of(`(?i)(~|\$HOME|%USERPROFILE%|/home/[a-z]+|/root)[/\\]\.(ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials)|id_rsa\b|id_ed25519\b|/etc/shadow\b|login\.keychain|Cookies\.binarycookies`)},
		{Caution, "it changes what starts by itself", pattern.Of(`(?i)(>>|tee\s+-a)\s*["']?(~|\$HOME)/\.(bashrc|zshrc|profile|bash_profile|zprofile)|\bcrontab\s+(-|/)|/etc/cron|LaunchAgents|systemctl\s+(--user\s+)?enable|\\CurrentVersion\\Run\b|authorized_keys`)},
		{Caution, "it asks for more rights", pattern.Of(`(?i)\bsudo\s+[a-z/]|\bchmod\s+(-R\s+)?(777|a\+rwx|u\+s|4[0-7]{3})\b|\bsetcap\b|--privileged\b|--dangerously-skip-permissions|bypassPermissions`)},
		{Caution, "it fetches and installs software", pattern.Of(`(?i)\b(npm|pnpm|yarn)\s+(i|install|add)\s+-g\b|\bpip3?\s+install\s+(--user\s+)?(git\+|https?://)|\b(curl|wget)\b[^\n]{0,200}\.(sh|ps1|py|exe|deb|pkg|msi)\b`)},
		{Caution, "it has a secret in it", pattern.Of(`AKIA[0-9A-Z]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bgh[pousr]_[A-Za-z0-9]{36}\b|\bxox[abprs]-[A-Za-z0-9-]{20,}|\bsk-(ant-|proj-)?[A-Za-z0-9_-]{32,}`)},
	}
}

// The bounds of a scan. What was not looked at is told.
const (
	maxScanned  = 5000     // files
	maxScanFile = 1 << 20  // bytes of a file
	maxScanAll  = 64 << 20 // bytes of all
	maxFindings = 200
	maxLine     = 20_000
)

// Scan looks through the files of a package for what is obviously bad: what is fetched and
// run, what is sent away, what is hidden from a reader, and sentences that want something of
// a model besides the use of the skill.
func Scan(files Files) ([]Finding, error) {
	s := &scan{files: files, wording: wording.New(), looks: looks()}
	err := fs.WalkDir(files, ".", s.visit)
	if err != nil {
		return nil, err
	}
	s.tellMore()
	if s.left > 0 {
		s.found = append(s.found, Finding{Path: ".", Severity: Caution, What: fmt.Sprintf("not everything was looked at: %d of the files are too many, or too large", s.left)})
	}
	return s.found, nil
}

type scan struct {
	files   Files
	wording wording.Reader
	looks   []look
	found   []Finding
	scanned int
	bytes   int
	left    int
	alike   map[[2]string]int // by file and finding
}

// maxAlike is how often the same is told of one file, unless it is dangerous. A person who is shown hundreds of lines reads none.
const maxAlike = 3

// add notes a finding. Where there is no room, a dangerous one takes the place of another:
// many small things do not hide it.
func (s *scan) add(f Finding) {
	if s.alike == nil {
		s.alike = map[[2]string]int{}
	}
	kind := [2]string{f.Path, string(f.Severity) + f.What}
	if s.alike[kind]++; s.alike[kind] > maxAlike && f.Severity != Dangerous {
		return
	}
	if len(s.found) < maxFindings {
		s.found = append(s.found, f)
		return
	}
	if f.Severity != Dangerous {
		return
	}
	for i := range slices.Backward(s.found) {
		if s.found[i].Severity != Dangerous {
			s.found = append(slices.Delete(s.found, i, i+1), f)
			return
		}
	}
}

// tellMore says in the last finding of a kind how many more there are.
func (s *scan) tellMore() {
	for i := len(s.found) - 1; i >= 0; i-- {
		f := &s.found[i]
		kind := [2]string{f.Path, string(f.Severity) + f.What}
		if more := s.alike[kind] - maxAlike; more > 0 && f.Severity != Dangerous {
			f.What += fmt.Sprintf(" (and %d more lines of this file)", more)
		}
		delete(s.alike, kind)
	}
}

func (s *scan) visit(name string, d fs.DirEntry, err error) error {
	if err != nil {
		return fmt.Errorf("looking through %s: %w", name, err)
	}
	switch {
	case d.IsDir():
		return nil
	case !d.Type().IsRegular():
		s.add(Finding{Path: name, Severity: Dangerous, What: "it is a link, or no file at all"})
		return nil
	}
	if s.scanned++; s.scanned > maxScanned || s.bytes > maxScanAll {
		s.left++
		return nil
	}
	f, err := s.files.Open(name)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxScanFile+1))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if len(data) > maxScanFile {
		data = data[:maxScanFile]
		s.left++
	}
	s.bytes += len(data)
	s.file(name, data)
	return nil
}

func (s *scan) file(name string, data []byte) {
	if kind := program(data); kind != "" {
		s.add(Finding{Path: name, Severity: Caution, What: "it is a program (" + kind + "), which nobody can read"})
		return
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		if !mostlyText(data) {
			return // a picture, a font: there is nothing to read in it
		}
		// A shell goes over a broken letter, and reads on.
		s.add(Finding{Path: name, Severity: Caution, What: "it is a text with bytes in it that are none"})
	}
	n := 0
	for line := range strings.Lines(strings.ToValidUTF8(string(data), "\ufffd")) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if len(line) > maxLine {
			if ext := path.Ext(name); ext == ".sh" || ext == ".py" || ext == ".md" || ext == ".js" || ext == ".mjs" || ext == ".ts" {
				s.add(Finding{Path: name, Line: n, Severity: Caution, What: fmt.Sprintf("a line has %d letters, more than anybody reads", len(line))})
			}
			line = line[:maxLine]
		}
		s.line(name, n, line)
	}
	if strings.EqualFold(path.Ext(name), ".md") {
		for _, w := range s.wording.Warnings(string(data)) {
			s.add(Finding{Path: name, Severity: Caution, What: "it tells the model to do something that has nothing to do with its use", Text: clipped(w)})
		}
	}
}

func (s *scan) line(name string, n int, line string) {
	for _, l := range s.looks {
		if l.in.MatchString(line) {
			s.add(Finding{Path: name, Line: n, Severity: l.severity, What: l.what, Text: clipped(line)})
		}
	}
	hidden := 0
	for _, r := range line {
		if text.Invisible(r) && r != '\t' && r != '\f' && r != '\ufeff' && r != '\ufe0f' && r != '\u200d' {
			hidden++
		}
	}
	if hidden > 0 {
		severity := Caution
		if hidden >= 8 {
			severity = Dangerous // a sentence can be hidden in so many
		}
		s.add(Finding{Path: name, Line: n, Severity: severity, What: fmt.Sprintf("%d letters in it cannot be seen", hidden), Text: clipped(line)})
	}
}

func clipped(s string) string { return text.ClipRunes(text.ShowLine(strings.TrimSpace(s)), 200) }

// mostlyText: it is read as a text by whoever runs it, or nine of ten bytes of it are.
func mostlyText(data []byte) bool {
	odd := 0
	for _, c := range data {
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			odd++
		}
	}
	return bytes.HasPrefix(data, []byte("#!")) || odd*10 < len(data)
}

// program knows programs by how they begin.
func program(data []byte) string {
	for begin, kind := range map[string]string{"\x7fELF": "Linux", "MZ": "Windows", "\xcf\xfa\xed\xfe": "macOS", "\xca\xfe\xba\xbe": "macOS or Java", "\x00asm": "WebAssembly"} {
		if bytes.HasPrefix(data, []byte(begin)) && (begin != "MZ" || bytes.IndexByte(data[:min(len(data), 512)], 0) >= 0) {
			return kind
		}
	}
	return ""
}

// Worst is the worst severity of findings; empty: there are none.
func Worst(list []Finding) Severity {
	worst := Severity("")
	for _, f := range list {
		if f.Severity == Dangerous || worst == "" || worst == Info {
			worst = f.Severity
		}
	}
	return worst
}
