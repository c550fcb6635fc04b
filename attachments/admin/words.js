// The texts of the control room, in English.
import { loadWords, wordsOf } from '../words.js'

export const texts = wordsOf(await loadWords('admin'), 'en')
