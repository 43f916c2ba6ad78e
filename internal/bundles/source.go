package bundles

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/text"
)

// The kinds of sources.
const (
	FromDir     = "directory"
	FromArchive = "archive"
	FromGit     = "git"
	FromNPM     = "npm"
	FromHTTP    = "http"
)

// Source is where a package comes from. As a text it is one of
//
//	./folder                                   a directory
//	./bundle.zip                               an archive: .zip, .mcpb, .dxt, .tar.gz, .tgz, .tar
//	git+https://host/repo.git#ref=v1&path=sub  a repository; also ssh and file
//	npm:@scope/name@1.2.3                      a package of npm
//	https://host/bundle.zip#sha256=…&path=sub  an archive elsewhere
//
// What stands behind # are fields: ref, commit and path for git; sha256 and path for an
// archive elsewhere; registry, integrity and path for npm.
type Source struct {
	Kind string
	At   string // a path, an address, or the name of a package

	Ref, Commit                  string // of a repository
	Version, Registry, Integrity string // of a package of npm
	SHA256                       string // of an archive
	Path                         string // the folder in it that is the package
}

var (
	plainRef     = pattern.Of(`^[A-Za-z0-9_][A-Za-z0-9._/+@-]{0,199}$`)
	commitForm   = pattern.Of(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	sumForm      = pattern.Of(`^[0-9a-f]{64}$`)
	npmName      = pattern.Of(`^(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*$`)
	npmVersion   = pattern.Of(`^[0-9A-Za-z][0-9A-Za-z.+-]{0,99}$`)
	exactVersion = pattern.Of(`^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$`)
	npmDigest    = pattern.Of(`^sha512-[A-Za-z0-9+/]{86}==$`)
)

// ParseSource reads the text of a source. A relative path is below dir.
func ParseSource(given, dir string) (Source, error) {
	fail := func(form string, args ...any) (Source, error) {
		return Source{}, fmt.Errorf("the source %q %s", text.ShowLine(text.ClipRunes(given, 200)), fmt.Sprintf(form, args...))
	}
	body, fragment, _ := strings.Cut(given, "#")
	scheme, _, addressed := strings.Cut(body, "://")
	switch {
	case given == "" || strings.ContainsFunc(given, func(r rune) bool { return r < ' ' || text.Invisible(r) }):
		return fail("has signs that cannot be seen")
	case strings.HasPrefix(given, "npm:"), addressed && (scheme == "https" || scheme == "http" || strings.HasPrefix(scheme, "git+")):
	case addressed:
		return fail("is an address that is not fetched: write https://…#sha256=…, git+https://…, npm:NAME@VERSION or a path")
	default:
		return localSource(given, dir)
	}
	fields, err := url.ParseQuery(fragment)
	if err != nil {
		return fail("has fields behind # that cannot be read")
	}
	s := Source{Ref: fields.Get("ref"), Commit: fields.Get("commit"), Registry: fields.Get("registry"), Integrity: fields.Get("integrity"), SHA256: strings.ToLower(fields.Get("sha256"))}
	allowed := map[string][]string{FromGit: {"ref", "commit", "path"}, FromNPM: {"registry", "integrity", "path"}, FromHTTP: {"sha256", "path"}}
	switch {
	case strings.HasPrefix(body, "npm:"):
		s.Kind = FromNPM
		err = s.npm(strings.TrimPrefix(body, "npm:"))
	case strings.HasPrefix(body, "git+"):
		s.Kind, s.At = FromGit, strings.TrimPrefix(body, "git+")
		err = s.checkGit()
	default:
		s.Kind, s.At = FromHTTP, body
		if err = checkAddress(body, "https"); err == nil && !sumForm.MatchString(s.SHA256) {
			err = errors.New("is an archive without a digest: write #sha256= and its 64 hexadecimal digits behind it, or git+https://… if it is a repository")
		}
	}
	if err != nil {
		return fail("%v", err)
	}
	for key, values := range fields {
		known := false
		for _, k := range allowed[s.Kind] {
			known = known || k == key
		}
		if !known || len(values) != 1 {
			return fail("has a field %s that means nothing there, or has it twice", text.ShowLine(key))
		}
	}
	if sub := fields.Get("path"); sub != "" {
		if s.Path, err = bundle.CheckPath(sub); err != nil {
			return fail("is wrong: %v", err)
		}
	}
	return s, nil
}

// localSource is a directory or a file of this machine.
func localSource(given, dir string) (Source, error) {
	at := given
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Source{}, fmt.Errorf("there is no file or directory %s (%w). What is elsewhere is written git+https://…, npm:NAME@VERSION or https://…#sha256=…", text.ShowLine(given), fs.ErrNotExist)
	case err != nil:
		return Source{}, fmt.Errorf("%s: %w", text.ShowLine(given), err)
	case info.IsDir():
		return Source{Kind: FromDir, At: filepath.Clean(at)}, nil
	case archiveForm(at) == "":
		return Source{}, fmt.Errorf("%s is neither a directory nor an archive: its name has to end in .zip, .mcpb, .dxt, .tar.gz, .tgz or .tar", text.ShowLine(given))
	}
	return Source{Kind: FromArchive, At: filepath.Clean(at)}, nil
}

func (s *Source) npm(spec string) error {
	at := strings.LastIndexByte(spec, '@')
	if at <= 0 {
		return errors.New("has no version: write npm:NAME@VERSION")
	}
	s.At, s.Version = spec[:at], spec[at+1:]
	switch {
	case !npmName.MatchString(s.At) || len(s.At) > 214:
		return errors.New("names no package of npm")
	case !npmVersion.MatchString(s.Version):
		return errors.New("has no version")
	case s.Integrity != "" && !npmDigest.MatchString(s.Integrity):
		return errors.New("has an integrity that is not sha512-…")
	case s.Registry != "":
		return checkAddress(s.Registry, "https")
	}
	return nil
}

func (s *Source) checkGit() error {
	switch {
	case s.Ref != "" && (!plainRef.MatchString(s.Ref) || strings.Contains(s.Ref, "..")):
		return errors.New("has a ref that names no branch, tag or commit")
	case s.Commit != "" && !commitForm.MatchString(s.Commit):
		return errors.New("has a commit that is not 40 hexadecimal digits")
	}
	return checkAddress(s.At, "https", "ssh", "file")
}

// checkAddress refuses what is fetched in a way that others can change, and addresses
// with more in them than where something is.
func checkAddress(at string, schemes ...string) error {
	u, err := url.Parse(at)
	if err != nil {
		return errors.New("is no address")
	}
	ok := u.Scheme == "http" && loopback(u.Hostname())
	for _, s := range schemes {
		ok = ok || u.Scheme == s
	}
	_, password := u.User.Password()
	switch {
	case !ok:
		return fmt.Errorf("is fetched by %s, where only %s is", text.ShowLine(u.Scheme), strings.Join(schemes, ", "))
	case u.Host == "" && u.Scheme != "file" || strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.Path, "/-"):
		return errors.New("has no host, or a word in it that programs take for an option")
	case password || u.User != nil && u.Scheme != "ssh":
		return errors.New("has a name or a password in it, which would be kept")
	case u.Fragment != "":
		return errors.New("has more behind it than fields")
	}
	return nil
}

func loopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// String is the source as ParseSource reads it.
func (s Source) String() string {
	fields := url.Values{}
	for key, value := range map[string]string{"ref": s.Ref, "commit": s.Commit, "registry": s.Registry, "integrity": s.Integrity, "sha256": s.SHA256, "path": s.Path} {
		if value != "" {
			fields.Set(key, value)
		}
	}
	at := s.At
	switch s.Kind {
	case FromDir, FromArchive:
		return at
	case FromGit:
		at = "git+" + at
	case FromNPM:
		at = "npm:" + at + "@" + s.Version
	}
	if len(fields) > 0 {
		at += "#" + strings.ReplaceAll(fields.Encode(), "%2F", "/")
	}
	return at
}

// name is what a package without a name of its own is called.
func (s Source) name() string {
	base := path.Base(filepath.ToSlash(s.At))
	if s.Kind == FromHTTP || s.Kind == FromGit {
		if u, err := url.Parse(s.At); err == nil {
			base = path.Base(u.Path)
		}
	}
	if s.Path != "" {
		base = path.Base(s.Path)
	}
	for _, end := range []string{".tar.gz", ".tgz", ".tar", ".zip", ".mcpb", ".dxt", ".git"} {
		base = strings.TrimSuffix(base, end)
	}
	return base
}

// archiveForm is how an archive is read, by the end of its name.
func archiveForm(name string) string {
	name = strings.ToLower(name)
	for end, form := range map[string]string{".zip": "zip", ".mcpb": "zip", ".dxt": "zip", ".tar.gz": "tgz", ".tgz": "tgz", ".tar": "tar"} {
		if strings.HasSuffix(name, end) {
			return form
		}
	}
	return ""
}

// Addresses are the addresses that a source names; a source that cannot be read names none.
func Addresses(source string) (list []string) {
	s, err := ParseSource(source, "")
	if err != nil {
		return nil
	}
	for _, at := range []string{s.At, s.Registry} {
		if strings.Contains(at, "://") {
			list = append(list, at)
		}
	}
	return list
}
