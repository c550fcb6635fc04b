#!/usr/bin/env node
// Starts the command `tilecouch`. Old versions of Node can read this file, which prints the version needed.
import { isNewEnough } from './node-version.js'

if (isNewEnough()) import('./main.js')
