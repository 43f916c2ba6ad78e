package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/toolcrib/toolcrib/internal/release"
)

// file is a file of an archive. One whose name ends in a slash is a directory.
type file struct {
	name string
	mode fs.FileMode
	data []byte
}

// extras is what goes with the program: texts, completions and manual pages.
type extras struct {
	text        map[string][]byte // by the name in the repository
	completions map[string][]byte // by the shell
	manuals     map[string][]byte // by the name of the page
	notices     []byte            // licences of what is linked into the program
}

// extras asks the program itself, built for this machine, for its completions and
// manual pages.
func (s *source) extras(ctx context.Context) (extras, error) {
	e := extras{text: map[string][]byte{}, completions: map[string][]byte{}, manuals: map[string][]byte{}}
	for _, name := range []string{"LICENSE", "README.md", "SECURITY.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			return e, err
		}
		e.text[name] = linked(text)
	}
	host := target{runtime.GOOS, runtime.GOARCH}
	program, err := s.build(ctx, host)
	if err != nil {
		return e, err
	}
	parts := components{}
	if _, err := parts.add(bytes.NewReader(program)); err != nil {
		return e, err
	}
	if err := s.addAll(ctx, parts); err != nil {
		return e, err
	}
	if e.notices, err = s.notices(ctx, parts); err != nil {
		return e, err
	}
	// Its own name, and nothing of this machine's settings.
	exe := filepath.Join(s.work, release.BinaryName(host.os))
	if err := os.WriteFile(exe, program, 0o700); err != nil { // it is a program
		return e, err
	}
	env := []string{"TOOLCRIB_HOME=" + filepath.Join(s.work, "home")}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		said, err := output(ctx, s.work, env, exe, "completion", shell)
		if err != nil {
			return e, err
		}
		e.completions[shell] = []byte(said + "\n")
	}
	pages := filepath.Join(s.work, "man1")
	if _, err := output(ctx, s.work, env, exe, "man", pages); err != nil {
		return e, err
	}
	entries, err := os.ReadDir(pages)
	if err != nil {
		return e, err
	}
	for _, entry := range entries {
		if e.manuals[entry.Name()], err = os.ReadFile(filepath.Join(pages, entry.Name())); err != nil {
			return e, err
		}
	}
	if len(e.manuals) < 2 {
		return e, fmt.Errorf("there are %d manual pages", len(e.manuals))
	}
	return e, nil
}

// linked has links lead to the pages of the project that are not in an archive.
func linked(page []byte) []byte {
	for _, name := range []string{"docs/", "python/", "CONTRIBUTING.md"} {
		page = bytes.ReplaceAll(page, []byte("]("+name), []byte("](https://github.com/toolcrib/toolcrib/blob/main/"+name))
	}
	return page
}

// archive is what an archive has besides the program.
func (e extras) archive(goos string) []file {
	list := e.texts("")
	list = append(list, file{"THIRD_PARTY_LICENSES.txt", 0o644, e.notices})
	if goos != "windows" {
		for _, name := range slices.Sorted(maps.Keys(e.manuals)) {
			list = append(list, file{"man/man1/" + name, 0o644, e.manuals[name]})
		}
	}
	return append(list,
		file{"completions/toolcrib.bash", 0o644, e.completions["bash"]},
		file{"completions/_toolcrib", 0o644, e.completions["zsh"]},
		file{"completions/toolcrib.fish", 0o644, e.completions["fish"]},
		file{"completions/toolcrib.ps1", 0o644, e.completions["powershell"]})
}

// debian is the same in the places that Debian has for it.
func (e extras) debian() []file {
	const doc = "usr/share/doc/toolcrib/"
	list := []file{
		{doc + "copyright", 0o644, copyright(e.notices)},
		{doc + "README.md", 0o644, e.text["README.md"]},
		{doc + "SECURITY.md", 0o644, e.text["SECURITY.md"]},
		{doc + "CHANGELOG.md.gz", 0o644, gzipped(e.text["CHANGELOG.md"])},
		{"usr/share/bash-completion/completions/toolcrib", 0o644, e.completions["bash"]},
		{"usr/share/zsh/vendor-completions/_toolcrib", 0o644, e.completions["zsh"]},
		{"usr/share/fish/vendor_completions.d/toolcrib.fish", 0o644, e.completions["fish"]},
	}
	for _, name := range slices.Sorted(maps.Keys(e.manuals)) {
		list = append(list, file{"usr/share/man/man1/" + name + ".gz", 0o644, gzipped(e.manuals[name])})
	}
	return list
}

func (e extras) texts(dir string) (list []file) {
	for _, name := range slices.Sorted(maps.Keys(e.text)) {
		list = append(list, file{dir + name, 0o644, e.text[name]})
	}
	return list
}

// copyright is Debian's file about who owns what.
func copyright(notices []byte) []byte {
	return append([]byte("Toolcrib\nSource: https://github.com/toolcrib/toolcrib\n\nCopyright: the Toolcrib authors\nLicense: Apache-2.0, whose text is in /usr/share/common-licenses/Apache-2.0.\n\nThe program holds the following modules of others, under their own licences.\n\n"), notices...)
}
