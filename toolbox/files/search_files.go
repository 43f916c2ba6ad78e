package files

import (
	"context"
	_ "embed" // the description

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/glob"
	"github.com/toolcrib/toolcrib/toolbox/files/internal/grep"
)

//go:embed search_files.md
var searchFilesText string

type searchIn struct {
	Pattern     string `json:"pattern" minlen:"1" maxlen:"4096" doc:"The text to look for, in single lines; a regular expression if regex is set."`
	Path        string `json:"path" default:"." minlen:"1" maxlen:"4096" doc:"The directory or file: relative to the working directory, or absolute inside a granted one."`
	FilePattern string `json:"file_pattern" default:"*" minlen:"1" maxlen:"4096" doc:"Which files to search, such as *.go or {src,lib}/**/*.ts. Without a slash it is about names at any depth."`
	Regex       bool   `json:"regex" default:"false" doc:"The pattern is a regular expression. Look-around and back references work, slowly."`
	IgnoreCase  bool   `json:"ignore_case" default:"false" doc:"Upper and lower case are the same."`
	Context     int    `json:"context" default:"0" min:"0" max:"20" doc:"How many lines to give before and after each match."`
	Limit       int    `json:"limit" default:"100" min:"1" max:"10000" doc:"The most matches to give."`
	Gitignore   bool   `json:"gitignore" default:"false" doc:"Leave out files that .gitignore files exclude."`
	Binary      bool   `json:"binary" default:"false" doc:"Search in files that are no text too."`
	LineEnds    string `json:"line_ends" default:"lf" enum:"lf,unicode" doc:"What ends a line: a line feed, or everything that Unicode counts as a line end, form feeds for example."`
}

type searchOut struct {
	Path      string        `json:"path" doc:"Absolute path of what was searched, after links."`
	Pattern   string        `json:"pattern" doc:"The pattern as given."`
	Matches   []searchMatch `json:"matches" doc:"The lines found, always in the same order."`
	Count     int           `json:"count" doc:"How many are given."`
	Truncated bool          `json:"truncated" doc:"There are more."`
}

type searchMatch struct {
	File    string   `json:"file" doc:"Path of the file below the path searched."`
	Line    int      `json:"line" doc:"Line number, counted from 1."`
	Content string   `json:"content" doc:"The line; a long one is cut around the match."`
	Before  []string `json:"before,omitempty" doc:"Lines before it, if context was asked for."`
	After   []string `json:"after,omitempty" doc:"Lines after it."`
}

func (b *Box) searchFiles() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "search_files", Title: "Search in files", Description: searchFilesText,
		Effects: toolcrib.Reads, Idempotent: true, Group: groupSearch,
	}, func(ctx context.Context, env *toolcrib.Env, in searchIn) (searchOut, error) {
		files, err := granted(env)
		if err != nil {
			return searchOut{}, err
		}
		s := &search{box: b, ctx: ctx, files: files, limit: in.Limit, context: in.Context, room: b.cfg.MaxAnswer, binary: in.Binary, unicode: in.LineEnds == "unicode"}
		if s.query, err = grep.Compile(in.Pattern, grep.Options{Regex: in.Regex, IgnoreCase: in.IgnoreCase, Binary: in.Binary}); err != nil {
			return searchOut{}, err
		}
		if s.pattern, err = glob.Compile(in.FilePattern); err != nil {
			return searchOut{}, err
		}
		start, err := files.Real(in.Path)
		if err != nil {
			return searchOut{}, err
		}
		s.start = start
		if b.cfg.Hide != nil {
			s.covered, s.screen = b.covered, s.query.Apart(b.cfg.Mark)
		}
		if in.Gitignore {
			s.ignore = newIgnorer(files, start)
		}
		if err := s.run(in.Path); err != nil {
			return searchOut{}, err
		}
		return searchOut{Path: start, Pattern: in.Pattern, Matches: s.found, Count: len(s.found), Truncated: s.more}, nil
	})
}
