package sandbox

import (
	"slices"
	"strconv"
	"strings"
)

// gitOnLayer are git's settings for programs on a layer: it neither packs objects by
// itself, since those that are there must stay, nor writes down from what it would learn
// of commits, objects and files in another way than by reading them.
func gitOnLayer() [][2]string {
	return [][2]string{{"gc.auto", "0"}, {"maintenance.auto", "false"}, {"fetch.writeCommitGraph", "false"}, {"pack.writeReverseIndex", "false"}, {"core.splitIndex", "false"}, {"core.untrackedCache", "false"}, {"core.fsmonitor", "false"}}
}

// GitOnLayer adds settings for git to an environment, after those that it has. With
// GIT_OPTIONAL_LOCKS, commands that only look leave the index alone.
func GitOnLayer(env []string) []string {
	const count, optional = "GIT_CONFIG_COUNT=", "GIT_OPTIONAL_LOCKS="
	n := 0
	for _, v := range env {
		if text, ok := strings.CutPrefix(v, count); ok {
			var err error
			if n, err = strconv.Atoi(text); err != nil || n < 0 {
				return env // git says itself what is wrong with it
			}
		}
	}
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, count) })
	for _, setting := range gitOnLayer() {
		at := strconv.Itoa(n)
		out = append(out, "GIT_CONFIG_KEY_"+at+"="+setting[0], "GIT_CONFIG_VALUE_"+at+"="+setting[1])
		n++
	}
	if !slices.ContainsFunc(out, func(v string) bool { return strings.HasPrefix(v, optional) }) {
		out = append(out, optional+"0")
	}
	return append(out, count+strconv.Itoa(n))
}
