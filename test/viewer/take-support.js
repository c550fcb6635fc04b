/* global window, L, document, CanvasRenderingContext2D -- of the page, in functions that run there */
// Helpers for tests of "Save or share the map": they operate the dialog and decode the files that it makes.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import sharp from 'sharp'
import { layers, stepAt } from '../support/client/gallery.js'
import { drawnTiles } from './browser.js'

/** Opens the card, once the map is drawn. @param {'Image' | 'Time-lapse' | 'Link'} [tab] */
export async function openTake (page, tab = 'Image') {
  await drawnTiles(page)
  await page.locator('#take').click()
  const card = page.locator('.card.take')
  await card.getByRole('button', { name: tab, exact: true }).click()
  return card
}

/** Selects a value in a list of the card. */
export const choose = (card, label, value) => card.locator('label', { hasText: label })
  .locator('select').selectOption(value)

/** Chooses a size in pixels. */
export async function ownSize (card, width, height) {
  await choose(card, 'Size', 'own')
  for (const [label, value] of [['Width in pixels', width], ['Height in pixels', height]]) {
    await card.getByLabel(label).fill(String(value))
    await card.getByLabel(label).press('Tab')
  }
}

/** Waits until a file is ready, and saves it. */
export async function save (card) {
  const link = card.locator('a.save')
  await link.waitFor()
  const [download] = await Promise.all([card.page().waitForEvent('download'), link.click()])
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) }
}

/** Presses the button that makes a file, and saves it. @param {string} name of the button */
export async function make (card, name) {
  await card.getByRole('button', { name, exact: true }).click()
  return save(card)
}

/** Decodes the pixels of an image, or of every frame of an animation. */
export async function decode (bytes) {
  const { data, info } = await sharp(bytes, { animated: true })
    .removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const { delay, pages = 1, pageHeight = info.height } = await sharp(bytes, { animated: true }).metadata()
  const pixelAt = (x, y, page = 0) => [...data.subarray(((page * pageHeight + y) * info.width + x) * 3).subarray(0, 3)]
  return { width: info.width, height: pageHeight, pages, delay, at: pixelAt }
}

/** The colour of the page where there are no tiles, in light colours. */
export const GROUND = [219, 228, 233]

/** How far a colour of a GIF may differ from that of a tile, of 256: a GIF has only the most important colours. */
export const PACKED = 6

/** The four tiles in the middle of zoom 3, which fill a picture of 512 pixels: column and row. */
export const MIDDLE = [[3, 3], [4, 3], [3, 4], [4, 4]]

/** A pixel of such a picture in the last quarter of a tile, where no text is drawn. */
export const placeOf = ([x, y]) => [(x - 3) * 256 + 192, (y - 3) * 256 + 192]

/** The colour of that pixel when the tile shows a step, as gallery.js draws it. */
export const colourOf = ([x, y], step) => [step * 8 + 3, x * 8, y * 8 + 3]

/** The colour of a tile of the layer as of a step. */
export const colourAsOf = step => ([x, y]) => colourOf([x, y], Number(stepAt('steps', step, 3, x, y)))

/** The steps at which the layer changes. */
export const STEPS = Object.keys(layers.steps.steps).map(Number)

/** The largest difference between two colours in one channel. */
export const distance = (first, second) => Math.max(...first.map((value, index) => Math.abs(value - second[index])))

/**
 * Fails unless each tile in the middle of an image has its colour.
 * @param {(x: number, y: number) => number[]} pixelAt @param {(tile: number[]) => number[]} colourOfTile
 * @param {number} [tolerance] how far the colours may differ
 */
export function assertMiddle (pixelAt, colourOfTile, tolerance = 0) {
  for (const tile of MIDDLE) {
    const [colour, expectedColour] = [pixelAt(...placeOf(tile)), colourOfTile(tile)]
    assert.ok(distance(expectedColour, colour) <= tolerance, `tile ${tile}: ${colour} instead of ${expectedColour}`)
  }
}

/** Records the texts that the page draws on canvases in `window.texts`, and its map in `window.map`. */
export const watch = page => page.evaluate(() => {
  const pageWindow = /** @type {any} */ (window)
  const { fillText } = CanvasRenderingContext2D.prototype
  pageWindow.texts = []
  CanvasRenderingContext2D.prototype.fillText = function (text, ...options) {
    pageWindow.texts.push(text)
    return fillText.call(this, text, ...options)
  }
  const { getZoom } = L.Map.prototype
  L.Map.prototype.getZoom = function () {
    const { id, classList } = this.getContainer()
    if (id === 'map') pageWindow.map = this
    if (classList.contains('tilecouch-compare-other')) pageWindow.sideMap = this
    return getZoom.call(this)
  }
})

/** Returns the texts drawn since `watch` or since the previous call. */
export const texts = page => page.evaluate(() => [...new Set(/** @type {any} */ (window).texts.splice(0))])

/**
 * Decodes a video and returns the colours at these times and pixels.
 * @param {any} browser
 * @param {Buffer} bytes
 * @param {string} type
 * @param {{time: number, x: number, y: number}[]} places
 */
export async function decodeVideo (browser, bytes, type, places) {
  const videoContext = await browser.newContext()
  const page = await videoContext.newPage()
  try {
    return await page.evaluate(async ([source, samples]) => {
      const video = document.createElement('video')
      const nextEvent = name => new Promise((resolve, reject) => {
        video.addEventListener(name, resolve, { once: true })
        video.addEventListener('error', () => reject(new Error(video.error?.message)), { once: true })
      })
      video.muted = true
      const loaded = nextEvent('loadeddata')
      video.src = source
      await loaded
      const { videoWidth: width, videoHeight: height, duration } = video
      const context = /** @type {CanvasRenderingContext2D} */ (
        Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')
      )
      const colours = []
      let shownTime = -1
      for (const { time, x, y } of samples) {
        if (time !== shownTime) {
          const [seeked, presented] =
            [nextEvent('seeked'), new Promise(resolve => { video.requestVideoFrameCallback(resolve) })]
          video.currentTime = shownTime = time
          await Promise.all([seeked, presented])
          context.drawImage(video, 0, 0)
        }
        colours.push([...context.getImageData(x, y, 1, 1).data].slice(0, 3))
      }
      return { width, height, duration, colours }
    }, [`data:${type};base64,${bytes.toString('base64')}`, places])
  } finally {
    await videoContext.close()
  }
}
