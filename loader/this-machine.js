// Which addresses are of the machine that this runs on.
import { networkInterfaces } from 'node:os'

/** Host names of URLs that lead to this machine, whichever it is. */
export const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Whether a host is this machine. @param {string} host of a URL, in brackets where it is an IPv6 address */
export const isHere = host => LOOPBACK.test(host) || Object.values(networkInterfaces()).flat().some(own => own?.address === host.replace(/^\[|\]$/g, ''))
