package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// Files also come from elsewhere by the programs of stores (aws s3 cp, gsutil cp,
// rclone copy) and by the commands that ftp and its like are told.

// isStore: programs that get files from a store of others.
func isStore(name string) bool {
	switch name {
	case "aws", "gsutil", "gcloud", "rclone", "az", "azcopy", "s3cmd", "s5cmd", "mc", "b2", "oci", "ossutil", "swift", "doctl":
		return true
	}
	return false
}

// isRemote: a word that names something in a store, or at an address.
func isRemote(word string) bool {
	before, _, ok := strings.Cut(word, ":")
	return ok && !strings.Contains(before, "/") && !strings.HasPrefix(before, "-")
}

// downloadedFiles are the files that a program gets from a store.
func (p *Program) downloadedFiles() []string {
	var out []string
	from := ""
	for i, a := range p.Args {
		t, before := a.texts()[0], wordBefore(p.Args, i)
		name, value, cut := strings.Cut(t, "=")
		switch {
		case before == "-f" || before == "--file" || before == "--dest" || before == "--destination":
			out = append(out, t)
		case cut && (name == "--file" || name == "--dest" || name == "--destination"):
			out = append(out, value)
		case strings.HasPrefix(t, "-"):
		case isRemote(t):
			from = t
		case from != "" && (before == from || i == len(p.Args)-1):
			out = append(out, t, path.Base(from))
		}
	}
	if n := len(p.Args); n > 0 && p.word("get-object", "download-file-by-name", "download-file", "get") {
		out = append(out, p.Args[n-1].texts()[0], path.Base(from))
	}
	return slices.DeleteFunc(out, func(f string) bool { return f == "-" || f == "." || f == "" || strings.HasPrefix(f, "-") })
}

// fetchedDirs are the directories that a program fills from elsewhere.
func (p *Program) fetchedDirs(name string) []string {
	if !isStore(name) && name != "scp" && name != "rsync" {
		return nil
	}
	n := len(p.Args)
	if n < 2 || !slices.ContainsFunc(p.Args[:n-1], func(a Arg) bool { return isRemote(a.texts()[0]) }) {
		return nil
	}
	var out []string
	for _, a := range p.Args[1:] {
		if t := path.Clean(a.texts()[0]); !isRemote(t) && !strings.HasPrefix(t, "-") && t != "." && t != "/" {
			out = append(out, t)
		}
	}
	return out
}

// getsFile: commands of ftp, sftp and lftp that get a file, under another name if that
// follows.
var getsFile = pattern.Of(`(?:^|[\s;"'])(?:get1?|mget|reget|recv|pget|mirror)\s+(?:-\w+\s+)*([^\s;"']+)(?:[ \t]+(?:-o[ \t]+)?([^\s;"']+))?`)

// askedFiles are the files that such a program is told to get.
func (p *Program) askedFiles() []string {
	if !isOneOf(programKey(p.Name), "ftp sftp lftp tftp ncftp ncftpget smbclient") {
		return nil
	}
	texts := argTexts(p.Args)
	texts = append(texts, strings.Join(texts, " "))
	if p.input != nil {
		texts = append(texts, p.input.texts()...)
	}
	var out []string
	for _, t := range texts {
		for _, m := range getsFile.Regexp().FindAllStringSubmatch(t, maxValues) {
			out = append(out, m[1])
			if m[2] != "" {
				out = append(out, m[2])
			}
		}
	}
	return out
}
