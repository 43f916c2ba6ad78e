package bundles

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/durable"
)

// Packed is an archive that was made.
type Packed struct {
	File   string        `json:"file"`
	SHA256 string        `json:"sha256"`
	Files  int           `json:"files"`
	Notes  []bundle.Note `json:"notes,omitempty"`
}

// Pack makes an archive of a directory: the same bytes for the same files. It is read as a
// package first, so that what is handed out can be installed.
func (b *Bundles) Pack(ctx context.Context, dir string, name func(proposed string) string) (packed Packed, err error) {
	c, err := b.fetchSource(ctx, Source{Kind: FromDir, At: dir}, Want{})
	if err != nil {
		return packed, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var data bytes.Buffer
	archive := zip.NewWriter(&data)
	for _, file := range slices.Sorted(maps.Keys(c.files)) {
		head := &zip.FileHeader{Name: file, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		head.SetMode(0o644)
		if c.files[file].Program {
			head.SetMode(0o755)
		}
		w, err := archive.CreateHeader(head)
		if err != nil {
			return packed, err
		}
		text, err := os.ReadFile(filepath.Join(c.stage.dir, packageName, filepath.FromSlash(file)))
		if err != nil {
			return packed, err
		}
		if _, err := w.Write(text); err != nil {
			return packed, err
		}
	}
	if err := archive.Close(); err != nil {
		return packed, err
	}
	proposed := c.Package.Name
	if v := plainName(c.Package.Version); v != "" {
		proposed += "-" + v
	}
	end := ".zip"
	if c.Package.Format == "mcpb" {
		end = ".mcpb"
	}
	packed = Packed{File: name(proposed + end), SHA256: digest(data.Bytes()), Files: len(c.files), Notes: c.Package.Notes}
	if _, err := os.Lstat(packed.File); !errors.Is(err, fs.ErrNotExist) {
		return packed, fmt.Errorf("%s is there already, and was left as it is", packed.File)
	}
	return packed, durable.Replace(packed.File, data.Bytes(), 0o644)
}

// New begins a package: an Agent Plugin, which most programs read.
func New(dir, name string) (files []string, err error) {
	if err := bundle.CheckName(name); err != nil {
		return nil, err
	}
	manifest, err := json.MarshalIndent(map[string]any{
		"$schema": bundle.PluginSchema, "name": name, "version": "0.1.0", "description": "Say here what it is for.",
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	servers, err := json.MarshalIndent(map[string]any{"$schema": bundle.ServerSchema, "mcpServers": map[string]any{}}, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	for file, text := range map[string]string{
		"plugin.json": string(manifest) + "\n", "mcp.json": string(servers) + "\n",
		"skills/" + name + "/SKILL.md": "---\nname: " + name + "\ndescription: Say here what it does and when it is of use.\n---\n\n# " + name + "\n\nSay here what to do, step by step.\n",
	} {
		at := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return files, err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return files, err
		}
		files = append(files, at)
	}
	return files, nil
}
