// The texts of the control room, which is a page of its own.
import { language } from '../index.js'
import { de } from './de/index.js'
import { en } from './en/index.js'
import { es } from './es/index.js'
import { fr } from './fr/index.js'

/** @typedef {typeof en} Texts */

/** @type {Record<string, Texts>} */
export const languages = { en, de, fr, es }

export const texts = languages[language]
