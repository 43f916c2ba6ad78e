// Command release makes a release of the program: archives for six systems,
// Debian packages, container images, a list of what is in them, checksums and a
// signature. It builds what is committed, in a clone of its own, and needs git, Go
// and no network once the modules are there. Two runs on the same commit with the
// same Go give the same bytes.
//
//	go run ./.ci/release                        into dist/
//	go run ./.ci/release -targets linux/amd64   only some of it
//	go run ./.ci/release -new-key FILE          make the key that signs
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// target is a system that the program is built for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

func allTargets() []target {
	var list []target
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			list = append(list, target{system, arch})
		}
	}
	return list
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	out := flags.String("out", "dist", "directory that the release is written to; what is in it is removed")
	version := flags.String("version", "", "version such as v1.2.3 (default the tag of the commit, or what Go makes of the commit)")
	only := flags.String("targets", "", "systems to build for, such as linux/amd64,windows/arm64 (default all six)")
	roots := flags.String("roots", "/etc/ssl/certs/ca-certificates.crt", "certificates of authorities that the images get; empty or missing: none")
	fresh := flags.String("new-key", "", "make a key that signs releases, write it into this file, and put its public half into the source")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("there is no argument %q", flags.Arg(0))
	}
	if *fresh != "" {
		return newKey(".", *fresh)
	}
	targets, err := parseTargets(*only)
	if err != nil {
		return err
	}
	begun := time.Now()
	r := &making{out: *out, roots: *roots, targets: targets, say: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }}
	if err := r.make(ctx, *version); err != nil {
		return err
	}
	fmt.Printf("made in %s\n", time.Since(begun).Round(time.Second))
	return nil
}

func parseTargets(text string) ([]target, error) {
	if text == "" {
		return allTargets(), nil
	}
	var list []target
	for word := range strings.SplitSeq(text, ",") {
		system, arch, _ := strings.Cut(word, "/")
		t := target{system, arch}
		if !slices.Contains(allTargets(), t) {
			return nil, fmt.Errorf("%q is not a system that is built for: want some of %v", word, allTargets())
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return nil, errors.New("no system is named")
	}
	return list, nil
}
