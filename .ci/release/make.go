package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/release"
)

// making is one release being made.
type making struct {
	out     string
	roots   string
	targets []target
	say     func(format string, args ...any)

	src  *source
	sums release.Sums
}

// make builds everything and writes it into the directory of the release.
func (r *making) make(ctx context.Context, version string) (err error) {
	secret, err := secretKey(os.Getenv)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "toolcrib-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if r.src, err = cloneSource(ctx, ".", work, version); err != nil {
		return err
	}
	r.say("toolcrib %s, commit %.12s of %s", r.src.version, r.src.commit, r.src.date.Format("2006-01-02 15:04:05 MST"))
	if r.src.dirty {
		r.say("NOTE: what is not committed is not in this release")
	}
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	r.sums = release.Sums{}
	if err := r.programs(ctx); err != nil {
		return err
	}
	script, err := os.ReadFile(filepath.Join(r.src.dir, "install.sh"))
	if err != nil {
		return err
	}
	if err := r.write("install.sh", script); err != nil {
		return err
	}
	return r.sign(secret)
}

// programs builds the program for each system, and what is made of it.
func (r *making) programs(ctx context.Context) error {
	extra, err := r.src.extras(ctx)
	if err != nil {
		return err
	}
	parts := components{}
	for _, t := range r.targets {
		program, err := r.src.build(ctx, t)
		if err != nil {
			return err
		}
		info, err := parts.add(bytes.NewReader(program))
		if err != nil {
			return err
		}
		if info != r.src.version.String() {
			return fmt.Errorf("the program for %s says that it is %s, and the release is %s", t, info, r.src.version)
		}
		if err := r.archive(t, program, extra); err != nil {
			return err
		}
		if t.os != "linux" {
			continue
		}
		if err := r.packages(t, program, extra); err != nil {
			return err
		}
	}
	licences, err := r.src.licences(ctx, parts)
	if err != nil {
		return err
	}
	bom, err := parts.bom(r.src.version.String(), r.src.date, licences)
	if err != nil {
		return err
	}
	return r.write(release.Program+"_"+strings.TrimPrefix(r.src.version.String(), "v")+"_sbom.cdx.json", bom)
}

func (r *making) archive(t target, program []byte, extra extras) error {
	name := release.Name(r.src.version, t.os, t.arch)
	files := append([]file{{release.BinaryName(t.os), 0o755, program}}, extra.archive(t.os)...)
	for i := range files {
		files[i].name = name + "/" + files[i].name
	}
	pack := targz
	if t.os == "windows" {
		pack = zipped
	}
	content, err := pack(files, r.src.date)
	if err != nil {
		return err
	}
	return r.write(release.ArchiveName(r.src.version, t.os, t.arch), content)
}

// packages are the Debian package and the image.
func (r *making) packages(t target, program []byte, extra extras) error {
	name := release.Name(r.src.version, t.os, t.arch)
	deb, err := debian(r.src.version, t.arch, r.src.date, append([]file{{"usr/bin/" + release.Program, 0o755, program}}, extra.debian()...))
	if err != nil {
		return err
	}
	if err := r.write(name+".deb", deb); err != nil {
		return err
	}
	var roots []byte
	if r.roots != "" {
		if roots, err = os.ReadFile(r.roots); errors.Is(err, os.ErrNotExist) {
			r.say("NOTE: there is no %s, so the image for %s trusts no authority: programs in it reach nothing over TLS", r.roots, t)
		} else if err != nil {
			return err
		}
	}
	img, err := image{version: r.src.version.String(), commit: r.src.commit, date: r.src.date, arch: t.arch, program: program, roots: roots, licence: extra.text["LICENSE"]}.archive()
	if err != nil {
		return err
	}
	return r.write(name+".oci.tar", img)
}

// write writes a file of the release, and remembers its checksum.
func (r *making) write(name string, content []byte) error {
	sum := sha256.Sum256(content)
	r.sums[name] = hex.EncodeToString(sum[:])
	r.say("%11d  %s", len(content), name)
	mode := os.FileMode(0o644)
	if strings.HasSuffix(name, ".sh") {
		mode = 0o755
	}
	return os.WriteFile(filepath.Join(r.out, name), content, mode)
}
