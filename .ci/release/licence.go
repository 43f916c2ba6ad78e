package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenceFiles gives the texts about licences of each module, from the cache that
// it was built from.
func (s *source) licenceFiles(ctx context.Context, parts components) (map[string][]file, error) {
	args := []string{"list", "-m", "-json"}
	for _, m := range parts.modules() {
		args = append(args, m.path)
	}
	said, err := s.goTool(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	found := map[string][]file{}
	for in := json.NewDecoder(strings.NewReader(said)); in.More(); {
		var m struct{ Path, Version, Dir string }
		if err := in.Decode(&m); err != nil {
			return nil, err
		}
		if m.Version != parts[m.Path].version {
			return nil, fmt.Errorf("%s is linked in as %s, and go.mod has %s", m.Path, parts[m.Path].version, m.Version)
		}
		if m.Dir == "" {
			if said, err = s.goTool(ctx, nil, "mod", "download", "-json", m.Path); err != nil {
				return nil, err
			}
			if err := json.Unmarshal([]byte(said), &m); err != nil {
				return nil, err
			}
		}
		if found[m.Path], err = licencesIn(m.Dir); err != nil {
			return nil, err
		}
		if len(found[m.Path]) == 0 {
			return nil, fmt.Errorf("%s has no licence that was found in %s", m.Path, m.Dir)
		}
	}
	return found, nil
}

// addAll adds the modules that only other systems have, so that one text is right
// for all of them.
func (s *source) addAll(ctx context.Context, parts components) error {
	for _, t := range allTargets() {
		said, err := s.goTool(ctx, []string{"GOOS=" + t.os, "GOARCH=" + t.arch}, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/toolcrib")
		if err != nil {
			return err
		}
		for line := range strings.Lines(said) {
			if path, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				parts[path] = module{path, version}
			}
		}
	}
	return nil
}

// licencesIn gives the texts about licences in a directory.
func licencesIn(dir string) (list []file, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	name := regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-.].*)?$`)
	for _, e := range entries {
		if e.IsDir() || !name.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, file{e.Name(), 0o644, text})
	}
	return list, nil
}

// notices is one text with the licences of everything that is linked in: most of
// them ask for it.
func (s *source) notices(ctx context.Context, parts components) ([]byte, error) {
	found, err := s.licenceFiles(ctx, parts)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if root, err := s.goTool(ctx, nil, "env", "GOROOT"); err == nil {
		if text, err := os.ReadFile(filepath.Join(root, "LICENSE")); err == nil {
			fmt.Fprintf(&out, "== Go %s\n\n%s\n", parts[goModule].version, text)
		}
	}
	for _, m := range parts.modules() {
		fmt.Fprintf(&out, "== %s %s\n\n", m.path, m.version)
		for _, f := range found[m.path] {
			fmt.Fprintf(&out, "-- %s\n%s\n", f.name, bytes.ToValidUTF8(f.data, []byte("?")))
		}
	}
	return out.Bytes(), nil
}

// licences names the licence of each module where its text is one that is known.
func (s *source) licences(ctx context.Context, parts components) (map[string]string, error) {
	found, err := s.licenceFiles(ctx, parts)
	if err != nil {
		return nil, err
	}
	named := map[string]string{}
	for path, files := range found {
		i := slices.IndexFunc(files, func(f file) bool { return licenceOf(f.data) != "" })
		if i >= 0 {
			named[path] = licenceOf(files[i].data)
		}
	}
	return named, nil
}

// licenceOf knows a licence by the sentences that only it has.
func licenceOf(text []byte) string {
	words := strings.Join(strings.Fields(string(text)), " ")
	has := func(parts ...string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(words, p) })
	}
	switch {
	case has("Apache License", "Version 2.0, January 2004"):
		return "Apache-2.0"
	case has("Mozilla Public License Version 2.0"):
		return "MPL-2.0"
	case has("Redistribution and use in source and binary forms", "Neither the name"), has("Redistribution and use in source and binary forms", "may not be used to endorse or promote"):
		return "BSD-3-Clause"
	case has("Redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	case has("Permission is hereby granted, free of charge", "The above copyright notice and this permission notice shall be included"):
		return "MIT"
	case has("Permission to use, copy, modify, and/or distribute this software for any purpose"), has("Permission to use, copy, modify, and distribute this software for any purpose"):
		return "ISC"
	}
	return ""
}
