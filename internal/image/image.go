// Package image knows images of containers by what they are for: which one has
// the program that an MCP server is started by, what that program needs to run in
// it, and what the name of an image looks like. It starts nothing and asks nobody.
// It imports nothing of ours, so that the settings are checked and containers are
// started by one table. Its invariant: no name that it lets pass can be an option
// of a command line.
package image

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Home is where a server in a container is at home. It is the only place that it
// can write besides what was granted, it is empty when the server starts, and gone
// when it has ended.
const Home = "/tmp"

// Kit is what is known of a program that servers are started by.
type Kit struct {
	Image string // has the program, and a shell
	// Fetches: it gets the packages that it runs from a registry.
	Fetches bool
	// Env is what it needs where nothing but Home can be written.
	Env map[string]string
	// Offline has it say at once that it has no network, instead of after a wait.
	Offline map[string]string
}

// The images. They are tags of a major version: what such a tag means is decided
// when a person pulls it.
const (
	nodeImage   = "node:24-slim"
	pythonImage = "ghcr.io/astral-sh/uv:python3.13-bookworm-slim" // Python's own slim image, with uv
	denoImage   = "denoland/deno:debian"
	bunImage    = "oven/bun:1-slim"
	goImage     = "golang:1.26"
	javaImage   = "eclipse-temurin:21-jre"
)

// For gives what is known of a command, by the name of its program.
func For(command string) (Kit, bool) {
	offlineNode := map[string]string{"npm_config_offline": "true"}
	// The image puts uv's programs where only root writes.
	uv := Kit{Image: pythonImage, Fetches: true, Env: map[string]string{"UV_TOOL_BIN_DIR": Home + "/.local/bin"}, Offline: map[string]string{"UV_OFFLINE": "1"}}
	bun := Kit{Image: bunImage, Fetches: true}
	kits := map[string]Kit{
		"node": {Image: nodeImage}, "npx": {Image: nodeImage, Fetches: true, Offline: offlineNode}, "npm": {Image: nodeImage, Fetches: true, Offline: offlineNode},
		"uv": uv, "uvx": uv, "python": {Image: pythonImage}, "python3": {Image: pythonImage}, "pip": {Image: pythonImage, Fetches: true},
		"deno": {Image: denoImage, Fetches: true, Env: map[string]string{"DENO_DIR": Home + "/.cache/deno"}},
		"bun":  bun, "bunx": bun,
		"go":   {Image: goImage, Fetches: true, Env: map[string]string{"GOPATH": Home + "/go"}, Offline: map[string]string{"GOPROXY": "off"}},
		"java": {Image: javaImage},
	}
	kit, ok := kits[path.Base(command)]
	return kit, ok
}

// engines start containers themselves.
func engines() []string { return []string{"docker", "podman", "nerdctl"} }

// Choose gives the image that a command runs in: the one that is named, or that of
// its kit.
func Choose(command, named string) (string, error) {
	if slices.Contains(engines(), path.Base(command)) {
		return "", fmt.Errorf("%s starts a container of its own: leave sandbox: container out, and the server runs as its arguments say", path.Base(command))
	}
	if named != "" {
		return named, Check(named)
	}
	kit, ok := For(command)
	if !ok {
		return "", fmt.Errorf("no image is known for the command %q (known are npx, node, uvx, uv, python, deno, bun, go and java): name one that has it, such as image: debian:12", command)
	}
	return kit.Image, nil
}

// reference is the name of an image as engines know them: a host and a path, a tag,
// a digest. It begins with a letter or a digit, so that it is no option.
var reference = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._/:@-]*$`)

// maxReference bounds it. In the pattern itself the bound would cost every start of
// the program most of a millisecond.
const maxReference = 400

// Check refuses what is not the name of an image.
func Check(name string) error {
	if len(name) > maxReference || !reference.MatchString(name) || strings.Contains(name, "//") || strings.Contains(name, "://") {
		return fmt.Errorf("%q is not the name of an image: write it as docker pull takes it, such as node:24-slim", name)
	}
	return nil
}
