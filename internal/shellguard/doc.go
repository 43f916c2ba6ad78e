// Package shellguard reads command lines: what each would start, read and write,
// and whether it may run unasked.
//
// Wiring (internal/app) builds its guard; the rules of internal/policy are held
// against the lines that it reads. It imports the core and mvdan.cc/sh, which
// parses.
//
// Its one invariant: what is not understood is never allowed. Every table in here
// lists what is known to be harmless; a word, an option or a construct that is not
// in a table makes the guard ask.
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
//   - a form (forms.txt) lists the options of a program that are harmless.
//     Arguments that fit a form of class ReadOnly may run without a question;
//   - a rule ([Rule]) is what a person wrote to allow more. An open rule ("go
//     test *") still only takes arguments that do not change what is run: the
//     form of the program if there is one, taken.txt if not.
//     A program without either takes plain words;
//   - the floor ([Line.Floor]) is what is asked whatever was allowed.
//
// Beside what a line says stands what it may do ([Line.possible]): words with
// the values that the line gives its variables, text that it hands to a shell
// or an interpreter, files that it writes and then runs. Nothing is ever allowed
// by that; the floor and the rules that take away look at it as well.
//
// [Guard] puts them together as a guard. It relies on three things that it
// cannot see: the shell that runs the line is sh or bash (or zsh, see Options.Zsh), finds programs where
// Options.Look does, and inherits no variables but those the tool chose.
// It says what a line is told to do, not what becomes of it: which files a
// recursive search meets, what a project's tests do and what changes between
// the question and the answer is for the sandbox to bound.
package shellguard
