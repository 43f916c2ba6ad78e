package mcphub

import (
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/wording"
)

// verbOf finds the word of a tool's name that says what it does, and what that is.
// The worst one counts, wherever it stands: get_and_delete deletes, and so does
// list_delete. Words that are things as well (get_comment, list_run) are no verbs
// after one that reads, but for those that are joined to it (get_and_run).
func verbOf(name string) (verb string, does toolcrib.Effects) {
	table, joined := verbs(), false
	var seen []string
	look := strings.Map(func(r rune) rune {
		if lower := unicode.ToLower(r); wording.Latin(lower) != lower {
			return wording.Latin(lower)
		}
		return r
	}, name)
	for _, word := range nameWords(look) {
		joined = joined || slices.Contains([]string{"and", "then", "or", "also"}, word)
		found, thing := word, slices.Contains(things(), word)
		e, known := table[word]
		if !known {
			if found, thing = gluedVerb(word); found == "" {
				continue
			}
			e = table[found]
		}
		seen = append(seen, found)
		if verb == "" || e > does && (joined || !thing || does != toolcrib.Reads) {
			verb, does = found, e
		}
	}
	// Written apart, or with signs for letters: de_lete, deLete, de1ete.
	for _, word := range dangerous() {
		if e := table[word]; e > does && !slices.Contains(seen, word) && strings.Contains(folded(name), folded(word)) {
			verb, does = word, e
		}
	}
	return verb, does
}

// gluedVerb finds a verb that another word is written to, as in deletetree. It may
// be a thing, as in list_deleted and list_transfers.
func gluedVerb(word string) (verb string, thing bool) {
	for _, verb := range dangerous() {
		if before, after, found := strings.Cut(word, verb); found {
			return verb, before == "" && slices.Contains([]string{"s", "d", "ed", "red"}, after)
		}
	}
	return "", false
}

// dangerous are verbs that count in the midst of a word too. They are long enough
// not to be there by chance.
func dangerous() []string {
	return strings.Fields("delete remove destroy erase truncate purge overwrite uninstall execute shutdown reboot rmdir mkfs sudo transfer withdraw revoke")
}

// things are verbs that are often names of what is read.
func things() []string {
	return strings.Fields("comment post label tag link fork commit merge patch draft stage change schedule book import open copy store type run shell command terminal script " +
		"order charge trade bid mail email message call tweet release trigger block share archive trash format reply transition checkout download login")
}

// verbs are what people call what a tool does. A verb that means several things
// counts as the worst of them.
func verbs() map[string]toolcrib.Effects {
	all := map[string]toolcrib.Effects{}
	for e, list := range map[toolcrib.Effects]string{
		toolcrib.Reads: "get list search read find fetch show view describe count check lookup browse inspect status info retrieve resolve scan diff query compare " +
			"stat stats summarize analyze validate verify preview suggest recommend monitor whoami ping help explain",
		toolcrib.Writes: "create update add set put edit write insert append upsert modify change rename move copy upload save store assign comment post publish reply " +
			"send submit enable disable merge commit push fork invite share subscribe close open reopen toggle mark label tag schedule book register import sync restore " +
			"transition link apply patch make generate start stop restart pause resume approve reject accept forward draft duplicate pin unpin react respond " +
			"fill click type press drag hover navigate upgrade scale deploy download extract compress checkout stage login logout " +
			"transfer pay buy sell order purchase charge refund withdraw deposit donate trade bid swap mint grant authorize allow permit promote elevate impersonate " +
			"mail email message notify call tweet release trigger dispatch launch block unblock lock unlock mkdir touch chmod chown cp activate migrate rotate sign",
		toolcrib.Writes | toolcrib.Destroys: "delete remove drop destroy purge erase wipe truncate clear terminate uninstall revoke cancel reset overwrite flush prune evict " +
			"unlink trash rollback rebase discard cleanup replace archive detach unsubscribe " +
			"rm rmdir rmtree rmrf del unset mv dd mkfs format reformat shred nuke shutdown reboot halt poweroff dropdb droptable abort ban kick suspend deactivate expire demote deny",
		toolcrib.Writes | toolcrib.Destroys | toolcrib.Runs: "run exec execute eval evaluate shell command terminal bash spawn invoke install kill script sudo su doas killall pkill cmd powershell",
	} {
		for word := range strings.FieldsSeq(list) {
			all[word] = e
		}
	}
	return all
}
