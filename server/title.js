// A password that was given on the command line can be read by everybody who lists processes. It should not be there; where it
// is, it does not stay there for as long as a command runs.
import { scrub } from '../core/errors.js'

const said = process.argv.slice(2).join(' ')
const shown = scrub(said)
if (shown !== said) process.title = `tilecouch ${shown}`
