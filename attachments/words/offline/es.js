// Spanish: the panel of areas on the device.
import { counted } from '../counted.js'

const count = counted('es')

const tiles = count({ one: '# tesela', other: '# teselas' })
const changed = count({ one: '# tesela cambiada', other: '# teselas cambiadas' })

/** @type {typeof import('./en.js').en} */
export const es = {
  count: count({ one: '# zona', other: '# zonas' }),
  away: 'sin conexión',
  areas: 'Zonas en este dispositivo',
  intro: 'Descargue una parte del mapa y funcionará sin red: en el mar, en la montaña, en un sótano.',
  add: 'Descargar una zona',
  connected: 'Conectado al almacén',
  notConnected: 'Sin conexión con el almacén',
  removed: name => `«${name}» se quitó de este dispositivo.`,
  outdated: (name, why) => `«${name}» no está al día. ${why}`,
  partly: name => `«${name}»: no se descargó todo.`,
  justNow: 'ahora mismo',
  ago: {
    minutes: count({ one: 'hace # minuto', other: 'hace # minutos' }),
    hours: count({ one: 'hace # hora', other: 'hace # horas' }),
    days: count({ one: 'hace # día', other: 'hace # días' })
  },
  fewSeconds: 'unos segundos',
  lasting: {
    seconds: count({ other: '# segundos' }),
    minutes: count({ one: '# minuto', other: '# minutos' }),
    hours: count({ one: '# hora', other: '# horas' })
  },
  old: count({ one: 'de hace # día', other: 'de hace # días' }),
  oldFollowing: count({ one: 'de hace # día, sigue al almacén cuando puede', other: 'de hace # días, sigue al almacén cuando puede' }),
  keptUp: 'Se mantiene al día',
  upToDate: ago => `Al día, ${ago}`,
  allPast: 'con todo su pasado',
  pastSince: date => `con su pasado desde ${date}`,
  brought: (number, size) => `${changed(number)}, ${size}.`,
  onlyDescriptions: 'Al día: solo cambiaron descripciones.',
  nothingChanged: 'Al día: no cambió nada.',
  reasons: {
    insecure: 'Esta página no se abrió por https. Aquí se pueden guardar mapas, pero la página misma no se abre sin red. Pida su dirección https.',
    blocked: 'Este navegador no guarda nada de esta página: la ventana es privada o el almacenamiento está desactivado. Abra la página en una ventana normal.',
    failed: 'La parte de esta página que guarda mapas no se cargó. Inténtelo de nuevo cuando haya red.'
  },
  problems: {
    full: 'No queda espacio en este dispositivo. Lo ya descargado se conserva. Quite una zona o libere espacio y pulse «Continuar».',
    tooLarge: (needed, free) => `No cabe: necesita ${needed} y hay ${free} libres. Quite una zona o elija una más pequeña.`,
    forbiddenBy: host => `Esta capa no se puede descargar: sus teselas vienen de ${host}, cuyas condiciones lo prohíben.`,
    forbidden: 'Esta capa no se puede descargar: su proveedor no lo permite.',
    unread: 'El almacén no le permite leerlo.',
    other: why => `Esto no funcionó: ${why}.`,
    codes: {
      UNREACHABLE: 'El almacén no responde. Lo ya descargado se conserva; pulse «Continuar» cuando haya red.',
      INDEX_MISSING: 'El almacén no tiene índice para descargas. Su operador lo instala con «tilecouch push».',
      LAYER_NOT_FOUND: 'La capa ya no está en el almacén. Lo que hay en este dispositivo se queda.',
      DATABASE_NOT_FOUND: 'La base de datos ya no existe. Lo que hay en este dispositivo se queda.',
      AREA_EXISTS: 'Ya hay una zona con este nombre. Elija otro.',
      BAD_BBOX: 'No son cuatro números en grados: oeste, sur, este, norte.',
      BAD_AREA: 'Dentro de esta forma no hay nada. Mueva sus vértices.',
      BAD_ZOOM: 'El primer nivel no puede ser mayor que el último.',
      BAD_TIME: 'Esto no es una fecha.'
    }
  },
  area: {
    done: name => `«${name}» está en este dispositivo.`,
    download: 'Descargar',
    downloadOf: name => `Descarga de ${name}`,
    goOn: 'Continuar',
    pause: 'Pausa',
    show: 'Ver en el mapa',
    refresh: 'Actualizar',
    rename: 'Renombrar',
    newName: 'Nombre nuevo',
    leave: 'Dejarlo',
    remove: 'Quitar',
    removeIt: 'Sí, quitar',
    keepIt: 'Conservar',
    keepUp: 'Mantener al día',
    askRemove: name => `¿Quitar «${name}»?`,
    askCancel: name => `¿Detener la descarga y quitar «${name}»?`,
    willGo: amount => `${amount} se quitarán de este dispositivo.`,
    nothingYet: 'Aún no hay nada de ella en este dispositivo.',
    storeKeeps: 'El almacén conserva sus teselas.',
    of: (have, all) => `${have} de ${all}`,
    left: time => `quedan ${time}`,
    failed: number => `${tiles(number)} fallidas`,
    states: {
      new: 'Aún sin descargar', waiting: 'En espera: otra ventana la descarga', downloading: 'Descargando …',
      refreshing: 'Actualizando …', paused: 'En pausa', incomplete: 'Incompleta', removing: 'Quitando …'
    }
  },
  room: {
    head: 'Espacio en este dispositivo',
    taken: size => `Los mapas ocupan ${size}`,
    free: size => `${size} libres`,
    kept: 'Se conserva hasta que lo quite.',
    mayGo: 'El navegador puede borrarlo si falta espacio.',
    keep: 'Conservar',
    refused: 'El navegador no aceptó. Es más fácil con una página instalada o en favoritos.'
  },
  coverage: {
    show: 'Mostrar qué teselas hay en este dispositivo',
    whole: 'en este dispositivo, con todos los niveles descargados debajo',
    part: 'en parte en este dispositivo'
  },
  estimate: {
    none: 'El almacén no tiene teselas aquí en estos niveles.',
    about: time => `unos ${time}`,
    most: size => `Es la mayor parte de los ${size} libres.`,
    free: size => `${size} libres en este dispositivo`
  },
  form: {
    shape: 'Forma', box: 'Rectángulo', free: 'Forma libre', undo: 'Quitar el último vértice', name: 'Nombre', layer: 'Capa', zooms: 'Niveles',
    firstZoom: 'Primer nivel', lastZoom: 'Último nivel', past: 'Pasado', pastNone: 'Solo lo último', pastSince: 'El pasado desde …',
    pastAll: 'Todo el pasado', since: 'Desde', asNumbers: 'Rectángulo en números', edges: 'Oeste, sur, este, norte',
    dragCorners: 'Arrastre las esquinas en el mapa.',
    tapCorners: 'Toque el mapa donde estén los vértices.',
    corners: number => `${count({ one: '# vértice', other: '# vértices' })(number)}. Toque para añadir otro, arrastre para mover uno.`,
    threeCorners: 'Una zona tiene al menos tres vértices.',
    giveName: 'Póngale un nombre.',
    less: label => `${label}: uno menos`,
    more: label => `${label}: uno más`
  },
  sketch: {
    corners: ['Esquina noroeste', 'Esquina noreste', 'Esquina sureste', 'Esquina suroeste'],
    corner: number => `Vértice ${number}`,
    whole: 'Todo el rectángulo',
    moves: what => `${what}: las flechas lo mueven`
  }
}
