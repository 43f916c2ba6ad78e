// Package guard holds the guards: each judges a call before it runs and says
// allow, ask or deny, or nothing at all.
//
// Wiring (internal/app) builds them and puts them into a crib; nothing else
// imports this package. It imports the core, mvdan.cc/sh, which parses command
// lines, and cel-go, which compiles the conditions of rules.
//
// Its one invariant: what a guard does not understand is never allowed. Every
// table in here lists what is known to be harmless; a word, an option or a
// construct that is not in a table makes the guard ask. Guards are pure
// questions: who keeps state (flow, budgets) changes it where a tool runs and
// where its result is vetted, never while judging.
//
//	profile*  which tools exist for a caller (Crib.Visible)
//	mode*     when a person is asked, by effects
//	rules*    the grammar of permissions and what a rule means
//	layer*    rules of several layers; Policy, the guard of mode and rules
//	import*   permissions of other programs, as rules of ours
//	shell*    command lines
//	label*    where data comes from and where it can go
//	flow*     private and untrusted data on its way out
//	inject*   results from outside, marked and made harmless
//	secret*   keys and tokens in arguments and results
//	budget*   rates and budgets; loop*: the same call again and again
//	hook*     guards and vetters that are programs of the user's own
//
// # The shell guard
//
// [Analyze] takes a command line apart into every program it would start:
//
//	line ─► readable? ─► parse ─► walk ─► words ─► resolve ─► unwrap ─► judge ─► second reading
//	        (bytes,      (bash)   (lists,  (quotes  (binary    (env,     (form    (cut once more by
//	         size,                 pipes,   folded,  in a       timeout,  tables,  the rules of POSIX:
//	         nesting)              groups)  dynamic  trusted    sh -c …)  class)   same words, same
//	                                        marked)  place)                        commands?)
//
// A line is understood only if bash and a plain POSIX shell read it the same
// way, and the parser and the tokenizer of this package, which share no code,
// find the same words in the same commands. Each program is judged by the
// binary its name resolves to and by its literal arguments:
//
//   - a form (shellform*.go) lists the options of a program that are harmless.
//     Arguments that fit a form of class ReadOnly may run without a question;
//   - a rule ([Rule]) is what a person wrote to allow more. An open rule ("go
//     test *") still only takes arguments that do not change what is run: the
//     form of the program if there is one, the tables in shelltake*.go if not.
//     A program without either takes plain words;
//   - the floor ([Line.Floor]) is what is asked whatever was allowed.
//
// Beside what a line says stands what it may do ([Line.possible]): words with
// the values that the line gives its variables, text that it hands to a shell
// or an interpreter, files that it writes and then runs. Nothing is ever allowed
// by that; the floor and the rules that take away look at it as well.
//
// [Shell] puts them together as a guard. It relies on three things that it
// cannot see: the shell that runs the line is sh or bash, finds programs where
// ShellOptions.Look does, and inherits no variables but those the tool chose.
// It says what a line is told to do, not what becomes of it: which files a
// recursive search meets, what a project's tests do and what changes between
// the question and the answer is for the sandbox to bound.
package guard
