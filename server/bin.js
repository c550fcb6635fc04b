#!/usr/bin/env node
// Starts the command `tilecouch`. Old versions of Node read this file, and are told which one is needed.
import { isNewEnough } from './node-version.js'

if (isNewEnough()) import('./main.js')
