package spoken

// Key names a sentence of the table.
type Key string

// What was refused, and why.
const (
	Denied           Key = "denied"            // a rule, a mode or a profile says no
	PersonRefused    Key = "person_refused"    // a person was asked and said no
	PermissionNeeded Key = "permission_needed" // a person has to approve it, and is asked or will be
	NobodyToAsk      Key = "nobody_to_ask"     // a person has to approve it, and nobody is there
	NoAnswer         Key = "no_answer"         // a person was asked and did not answer in time
	Outside          Key = "outside"           // a path outside the granted directories
	NoDirectory      Key = "no_directory"      // no directory is granted at all
	Protected        Key = "protected"         // a path that is never handed out
	ReadOnly         Key = "read_only"         // nothing may be written there
	ShellOff         Key = "shell_off"         // running commands is switched off
	NotListed        Key = "not_listed"        // allowed_commands does not have this command
	NotGranted       Key = "not_granted"       // a program that was not granted
	NoSandbox        Key = "no_sandbox"        // no sandbox holds what the call would need
	HostNotGranted   Key = "host_not_granted"  // a host that was not granted
	SearchOff        Key = "search_off"        // searching the web is switched off
	Budget           Key = "budget"            // the budget is used up
	Rate             Key = "rate"              // too many calls in a short time
	Loop             Key = "loop"              // the same call again and again
	Secret           Key = "secret"            // it would give away a secret
	Untrusted        Key = "untrusted"         // what was read before could be a trick
	Invalid          Key = "invalid"           // the arguments do not fit the contract
	NotFound         Key = "not_found"         // no such tool
	TimedOut         Key = "timed_out"         // the tool took too long
	CommandTimedOut  Key = "command_timed_out" // a command took longer than {number} seconds
	Cancelled        Key = "cancelled"         // the caller has gone
	Busy             Key = "busy"              // too many calls at once
	Unavailable      Key = "unavailable"       // something that is needed is missing now
	NotRecorded      Key = "not_recorded"      // the journal cannot record the call
	Conflict         Key = "conflict"          // the ID of the call is another's
	Internal         Key = "internal"          // a tool or this program broke down
	HeldBack         Key = "held_back"         // it was done, and the result is kept back
	TooLarge         Key = "too_large"         // the answer is larger than the bus takes
	NoModel          Key = "no_model"          // a skill needs a model, and none is set up
)

// What a tool tried and could not do.
const (
	Failed        Key = "failed" // any other failure
	NoSuchFile    Key = "no_such_file"
	NoSuchFolder  Key = "no_such_folder"
	IsFolder      Key = "is_folder"
	NotPermitted  Key = "not_permitted" // the operating system says no
	NotText       Key = "not_text"
	DiskFull      Key = "disk_full"
	NameTooLong   Key = "name_too_long"
	FileChanged   Key = "file_changed" // since it was read
	ReadFailed    Key = "read_failed"
	WriteFailed   Key = "write_failed"
	CommandFailed Key = "command_failed"
	SearchFailed  Key = "search_failed"
	NotComputed   Key = "not_computed"
)

// What a person is asked, and what is said to the answer. {words} is what a tool
// is called, in words.
const (
	MayRun       Key = "may_run"      // run a command
	MayWrite     Key = "may_write"    // change a file
	MayReach     Key = "may_reach"    // reach something on the network
	MayUse       Key = "may_use"      // use {words}
	MayDo        Key = "may_do"       // anything else
	MayDelete    Key = "may_delete"   // what cannot be got back
	MayLook      Key = "may_look"     // read something
	MayUnlock    Key = "may_unlock"   // use a stored credential
	MayAnything  Key = "may_anything" // a tool that does not say what it does
	AlsoDeletes  Key = "also_deletes" // said before the question
	AlsoReaches  Key = "also_reaches"
	NotClear     Key = "not_clear" // the answer was neither yes nor no
	SayYesOrNo   Key = "say_yes_or_no"
	Allowed      Key = "allowed"       // the person said yes
	NotAllowed   Key = "not_allowed"   // the person said no
	RepeatNow    Key = "repeat_now"    // allowed: the call is to be made again
	AnswerMissed Key = "answer_missed" // no answer was heard
)

// What an agent says besides its answers.
const (
	CodeLeftOut Key = "code_left_out" // code is not read out
	GoOn        Key = "go_on"         // the answer is longer
	NoAnswerYet Key = "no_answer_yet" // the model answered nothing
)

// Keys lists every key once.
func Keys() []Key {
	return []Key{
		Denied, PersonRefused, PermissionNeeded, NobodyToAsk, NoAnswer, Outside, NoDirectory, Protected, ReadOnly, ShellOff, NotListed, NotGranted, NoSandbox,
		HostNotGranted, SearchOff, Budget, Rate, Loop, Secret, Untrusted, Invalid, NotFound, TimedOut, CommandTimedOut, Cancelled, Busy, Unavailable,
		NotRecorded, Conflict, Internal, HeldBack, TooLarge, NoModel,
		Failed, NoSuchFile, NoSuchFolder, IsFolder, NotPermitted, NotText, DiskFull, NameTooLong, FileChanged, ReadFailed, WriteFailed, CommandFailed, SearchFailed, NotComputed,
		MayDelete, MayLook, MayUnlock, MayAnything, AlsoDeletes, AlsoReaches, NotClear, CodeLeftOut, GoOn, NoAnswerYet,
		MayRun, MayWrite, MayReach, MayUse, MayDo, SayYesOrNo, Allowed, NotAllowed, RepeatNow, AnswerMissed,
	}
}
