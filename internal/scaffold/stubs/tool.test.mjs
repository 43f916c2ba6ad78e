// Tests {{name}}.mjs. It runs in the folder of the tool, and a status that is not 0 is a failure.
import assert from 'node:assert/strict'
import { {{function}} } from './{{name}}.mjs'

assert.equal({{function}}('to be'), 'to be')
