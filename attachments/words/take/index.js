// The texts of the card that makes images, films and links, which is a bundle of its own.
import { de } from './de.js'
import { en } from './en.js'
import { es } from './es.js'
import { fr } from './fr.js'

/** @typedef {typeof en} Texts */

/** @type {Record<string, Texts>} */
export const languages = { en, de, fr, es }
