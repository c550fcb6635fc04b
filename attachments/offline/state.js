// How an area stands, in words and figures, and what there is to do about it.
import { count, plural, size } from '../format.js'
import { freshness, lasting } from './words.js'

export function stateWords (status) {
  switch (status.state) {
    case 'new': return 'Not downloaded yet'
    case 'waiting': return 'Waiting: another window is busy with it'
    case 'downloading': return status.updated ? 'Refreshing …' : 'Downloading …'
    case 'paused': return 'Paused'
    case 'incomplete': return status.failed ? `${plural(status.failed, 'tile')} did not come` : 'Not complete'
    case 'removing': return 'Removing …'
    default: return freshness(status)
  }
}

/** What the button does, and what it says. @returns {[string, 'download' | 'pause'] | []} */
export function doable ({ state, failed, tiles }) {
  switch (state) {
    case 'new': return [tiles ? 'Go on' : 'Download', 'download']
    case 'waiting': case 'downloading': return ['Pause', 'pause']
    case 'paused': return ['Go on', 'download']
    case 'incomplete': return [failed ? 'Try again' : 'Go on', 'download']
    default: return []
  }
}

/** How much of it is there, between 0 and 1; nothing where there is no end to be seen. */
export function shareOf ({ state, bytes, tiles, total }) {
  if (state === 'complete' || state === 'new' || state === 'removing' || !total) return undefined
  const [have, all] = total.bytes ? [bytes, total.bytes] : [tiles, total.tiles]
  return all ? Math.min(have / all, 1) : undefined
}

export function figuresOf ({ state, tiles, bytes, total, rate, remaining }) {
  if (!total || !['downloading', 'paused', 'incomplete', 'waiting'].includes(state)) return ''
  const isRunning = state === 'downloading'
  return [`${count(tiles)} of ${plural(total.tiles, 'tile')}`, `${size(bytes)} of ${size(total.bytes)}`,
    isRunning && rate && `${size(Math.round(rate))}/s`, isRunning && rate && Number.isFinite(remaining) && `${lasting(remaining)} left`].filter(Boolean).join(' · ')
}
