package main

import (
	"bytes"
	"crypto/md5" // Debian's list of checksums is of this kind; it protects from accidents only
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/release"
)

// debian packs a Debian package: an ar archive with the number of the format, what
// dpkg has to know, and the files. It has no scripts: nothing runs when it is
// installed or removed.
func debian(v release.Version, arch string, at time.Time, files []file) ([]byte, error) {
	var sums bytes.Buffer
	var size int
	for _, f := range sorted(files) {
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.name) // see above
		size += (len(f.data) + 1023) / 1024
	}
	control := fmt.Sprintf(`Package: %s
Version: %s
Architecture: %s
Maintainer: The Toolcrib authors
Installed-Size: %d
Recommends: ca-certificates
Section: utils
Priority: optional
Homepage: https://github.com/toolcrib/toolcrib
Description: tools for AI agents, declared once, governed once, served everywhere
 Toolcrib hands tools out to AI agents under rules, asks a person where a rule
 says so, and writes every use down. It serves them to any MCP client, to
 OpenVoiceOS, over HTTP and on the command line.
`, release.Program, debianVersion(v), arch, size)
	meta, err := targz(dotted([]file{{"control", 0o644, []byte(control)}, {"md5sums", 0o644, sums.Bytes()}}), at)
	if err != nil {
		return nil, err
	}
	data, err := targz(dotted(files), at)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, part := range []file{{"debian-binary", 0o644, []byte("2.0\n")}, {"control.tar.gz", 0o644, meta}, {"data.tar.gz", 0o644, data}} {
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", part.name, at.Unix(), 0, 0, "100644", len(part.data))
		out.Write(part.data)
		if len(part.data)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), nil
}

// debianVersion orders as the version does: what comes before a release is told by
// a tilde, and a dash would begin Debian's own number.
func debianVersion(v release.Version) string {
	text := strings.TrimPrefix(v.String(), "v")
	core, pre, isPre := strings.Cut(text, "-")
	if !isPre {
		return core
	}
	return core + "~" + strings.ReplaceAll(pre, "-", ".")
}

// dotted puts files below "./", as dpkg has them.
func dotted(files []file) []file {
	list := []file{{"./", 0o755, nil}}
	for _, f := range files {
		list = append(list, file{"./" + f.name, f.mode, f.data})
	}
	return list
}
