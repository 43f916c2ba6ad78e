package clienthook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// searchFiles is the tool of ours that searches of clients stand for.
const searchFiles = "search_files"

// The bounds on looking through a tree before a search: a hook has to answer in time.
const (
	searchTime  = 2 * time.Second
	maxSearched = 200_000
)

// searchable says why a client must not search a directory, or a file: its search opens
// every file that its patterns name, and nothing hides protected ones from it.
func searchable(ctx context.Context, env *toolcrib.Env, e *Event, dir string, s files.Search, checks Checks) error {
	look := func(handle *files.Handle) error { return searchedBy(ctx, handle, e, dir, s) }
	if checks.Search == nil {
		return look(env.Files)
	}
	if err := env.Files.Check(dir, false, false); err != nil {
		return err // what is named itself has to be within reach of read_file
	}
	return checks.Search(env.Call, env.Files, look)
}

func searchedBy(ctx context.Context, handle *files.Handle, e *Event, dir string, s files.Search) error {
	if err := handle.Check(dir, false, false); err != nil {
		return err
	}
	if info, err := handle.Stat(dir); err != nil || !info.IsDir() {
		return nil // a file was looked at by itself, and where nothing is nothing is found
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	s.Most = maxSearched
	found, err := handle.FirstGuarded(ctx, dir, s)
	switch {
	case found != "":
		instead := "search with a glob that names other files, such as *.go"
		if e.Client == Claude {
			instead += ", or exclude it with the glob !" + lastElem(found)
		}
		return refused(fmt.Sprintf("it would read %q, which is protected, or denied by a rule; %s", found, instead))
	case errors.Is(err, files.ErrMany), errors.Is(err, context.DeadlineExceeded):
		return refused("there are too many files to see whether a protected one is among them; search a directory further down")
	case err != nil:
		return refused("Toolcrib could not check the directory for protected files: " + err.Error())
	}
	return nil
}

// grepping is a search of the client for a text in files.
func grepping(e *Event, names string) files.Search {
	return files.Search{Globs: append(excluded(e), globsOf(e.Client, names)...), Ignores: e.Client == Claude}
}

// excluded are the globs that a client itself puts before those of a search: the
// directories of version control. A later glob can name them again.
func excluded(e *Event) []string {
	switch e.Tool {
	case "Grep":
		return []string{"!.git", "!.svn", "!.hg", "!.bzr", "!.jj", "!.sl"}
	case "grep_search", "search_file_content":
		return []string{"!.git", "!.svn", "!.hg"}
	}
	return nil
}

func lastElem(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// globsOf cuts what a client takes as one text into the globs that it searches by.
// Claude Code has several, with blanks between them, and with commas where there are no
// braces.
func globsOf(client, text string) []string {
	if client != Claude {
		switch {
		case text == "":
			return nil
		case text[0] == '!': // what that leaves out goes by the program that searches
			return []string{"*"}
		}
		return []string{text}
	}
	var out []string
	for part := range strings.FieldsSeq(text) {
		if strings.Contains(part, "{") && strings.Contains(part, "}") {
			out = append(out, part)
			continue
		}
		for glob := range strings.SplitSeq(part, ",") {
			if glob != "" {
				out = append(out, glob)
			}
		}
	}
	return out
}
