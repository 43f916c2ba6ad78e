package policy

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Explanation is the answer to the pure question what would become of a call.
type Explanation struct {
	Decision toolcrib.Decision `json:"decision"`
	// By is the verdicts that decided, Other those that did not.
	By    []toolcrib.Verdict `json:"by"`
	Other []toolcrib.Verdict `json:"other,omitempty"`
	// Change is what could be changed for another decision, one for each verdict
	// that decided.
	Change []string `json:"change,omitempty"`
}

// Allowed, Blocked and NeedsApproval are the three answers.
func (e *Explanation) Allowed() bool { return e.Decision == toolcrib.Allow }

// Blocked reports that the call would be denied.
func (e *Explanation) Blocked() bool { return e.Decision == toolcrib.Deny }

// NeedsApproval reports that a person would be asked.
func (e *Explanation) NeedsApproval() bool { return e.Decision == toolcrib.Ask }

// Explain puts in words what guards said to a call, as [toolcrib.Crib.Judge]
// gives it.
func Explain(r toolcrib.Review, decision toolcrib.Decision, verdicts []toolcrib.Verdict) Explanation {
	e := Explanation{Decision: decision}
	for _, v := range verdicts {
		if v.Note || v.Decision != decision {
			e.Other = append(e.Other, v)
			continue
		}
		e.By = append(e.By, v)
		if c := change(&v, &r); c != "" && !slices.Contains(e.Change, c) {
			e.Change = append(e.Change, c)
		}
	}
	return e
}

// change says what would have to be changed for another decision.
func change(v *toolcrib.Verdict, r *toolcrib.Review) string {
	tool := r.Spec.Box + "/" + r.Spec.Native
	if v.Decision == toolcrib.Allow {
		if v.Guard == "rules" {
			return "to be asked or to forbid it, remove that rule or add " + tool + " to permissions.ask or permissions.deny"
		}
		return "to be asked or to forbid it, add " + tool + " to permissions.ask or permissions.deny"
	}
	switch v.Guard {
	case "rules":
		if v.Rule == "allow" {
			return "allow each program of the line by a rule, in every file that has allows: permissions.allow: run_command(PROGRAM WORDS *)"
		}
		rank, rule, _ := strings.Cut(v.Rule, ": ")
		return "change or remove the rule " + rule + " in the permissions of the " + rank
	case "mode":
		if v.Decision == toolcrib.Deny {
			return "choose another mode than " + v.Rule
		}
		return "choose a mode that does not ask, or allow the tool by a rule: permissions.allow: " + tool
	case "shell":
		switch v.Rule {
		case "allow_shell":
			return "set toolboxes.shell.allow_shell: true"
		case "only_commands":
			return "add the command to toolboxes.shell.only_commands, or remove that setting"
		case "allowed_commands":
			return "add the command to toolboxes.shell.allowed_commands"
		case "ask":
			return "add the command to toolboxes.shell.allowed_commands, set toolboxes.shell.ask: true to be asked, or choose mode yolo to run everything but the floor"
		case "floor":
			return "nothing removes this question: it is the floor"
		}
		return "allow its programs by a rule, such as permissions.allow: run_command(PROGRAM WORDS *), or choose mode yolo"
	case "obeyed":
		if v.Rule == "floor" && strings.HasSuffix(tool, "install_tool") {
			return "nothing removes this question: look at the file and put it into your folder of tools yourself, if nobody can be asked"
		}
		if v.Rule == "mcp_import" {
			return "take the servers over yourself with 'toolcrib hub import', or add hub/mcp_import to permissions.allow"
		}
		return "add a rule that names the file or its directory, such as permissions.allow: write_file(.vscode/**), or list it in grant.unprotected"
	case "grant":
		switch v.Rule {
		case "grant.protected":
			return "to let tools have it all the same, list its name in grant.unprotected (what git keeps in .git is not written all the same)"
		case "grant.read":
			return "to let tools have it, add its directory to grant.read or grant.write"
		case "grant.write":
			return "to let tools change it, add its directory to grant.write"
		case "grant.hosts":
			return "to let tools reach it, add it to grant.hosts"
		}
	case "default":
		return "let a guard have a word on such tools: declare the tool's effects, or allow it by a rule"
	}
	return ""
}
