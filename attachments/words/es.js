// Spanish.
import { counted } from './counted.js'

const count = counted('es')

const tiles = count({ one: '# tesela', other: '# teselas' })
const versions = count({ one: '# versión', other: '# versiones' })
const editions = count({ one: '# edición', other: '# ediciones' })
const changed = count({ one: '# tesela cambiada', other: '# teselas cambiadas' })

/** @type {import('./index.js').Words} */
export const es = {
  tiles,
  versions,
  layers: count({ one: '# capa', other: '# capas' }),
  newest: 'Lo último',
  again: 'Reintentar',
  cancel: 'Cancelar',
  close: what => `Cerrar: ${what}`,
  closeNotice: 'Cerrar',
  reading: 'Leyendo el almacén …',
  emptyStore: 'Un almacén vacío',
  noConnection: 'Sin conexión',
  onDevice: 'En este dispositivo',
  offlineMaps: 'Mapas sin conexión',
  controlRoom: 'Sala de control',
  offlineFailed: why => `No se pueden abrir los mapas sin conexión: ${why}`,
  numbers: { bytes: count({ one: '# byte', other: '# bytes' }), units: ['kB', 'MB', 'GB', 'TB'] },

  timeline: {
    timeline: 'Línea de tiempo',
    transport: 'Moverse en el tiempo',
    first: 'Primer cambio',
    previous: 'Cambio anterior',
    play: 'Reproducir',
    pause: 'Pausa',
    next: 'Cambio siguiente',
    last: 'Último cambio',
    newest: 'Lo último',
    toNewest: 'Mostrar las teselas más recientes, según lleguen',
    time: 'Fecha',
    from: 'Inicio del periodo',
    to: 'Fin del periodo',
    settings: 'Ajustes de la línea de tiempo',
    more: 'Más',
    selectRange: 'Elegir un periodo',
    clearRange: 'Quitar el periodo',
    zoomToRange: 'Acercar al periodo',
    zoomOut: 'Alejar el eje',
    zoomIn: 'Acercar el eje',
    showAll: 'Mostrar todo el tiempo',
    loop: 'Volver a empezar al final',
    speed: 'Velocidad',
    steps: 'Cambios por segundo',
    perSecond: speed => `${speed} por s`,
    pace: 'Tiempo por segundo',
    paces: { hour: '1 hora por s', day: '1 día por s', week: '1 semana por s', month: '1 mes por s', year: '1 año por s', decade: '10 años por s' },
    zone: 'Zona horaria',
    utc: 'Horas en UTC',
    local: 'Local',
    ofComputer: 'Horas de este equipo',
    ofZone: name => `Horas de ${name}`,
    waiting: 'esperando teselas …',
    looking: 'buscando cambios …',
    loading: 'cargando el historial …',
    away: 'no se puede acceder al almacén',
    notOnMap: 'la capa no está en el mapa',
    nothing: 'aquí no ha cambiado nada',
    only: 'la única fecha de esta capa',
    before: 'antes del primer cambio aquí',
    tilesChanged: count({ one: '# tesela cambiada aquí', other: '# teselas cambiadas aquí' }),
    unchangedSince: time => `sin cambios desde ${time}`,
    lastChange: time => `último cambio ${time}`,
    changes: count({ one: '# cambio', other: '# cambios' })
  },

  store: {
    late: seconds => `Sin respuesta en ${seconds} segundos.`,
    unreachable: 'No se puede acceder al servidor.',
    answered: status => `El servidor respondió ${status}.`
  },
  offlineNow: {
    head: 'Está sin conexión',
    texts: [
      'Todavía no hay nada de este mapa en este dispositivo. Con conexión, el botón «Mapas sin conexión» de esta página descarga partes de él.',
      'El mapa aparece por sí solo cuando hay conexión.'
    ]
  },
  storeAway: why => ({
    head: 'El almacén no responde',
    texts: [why, '¿Sigue en marcha el servidor? No se ha perdido nada: esta página sigue preguntando y continúa cuando hay respuesta.']
  }),
  empty: {
    head: 'Aún no hay capas',
    before: ['Este almacén está listo y vacío. Cargue en él una carpeta de teselas o un archivo MBTiles:'],
    command: 'Orden',
    after: [
      'Una carpeta contiene z/x/y.png, como la escriben gdal2tiles y la mayoría de los programas. Cada carga con una fecha nueva se añade al pasado de la capa, y esta página permite volver a él.',
      'El mapa aparece por sí solo en cuanto hay uno.'
    ],
    look: 'Mirar de nuevo'
  },
  problems: {
    codes: {
      UNREACHABLE: () => 'El servidor no responde.',
      LAYER_NOT_FOUND: name => `La capa «${name}» ya no está en este almacén.`,
      DATABASE_NOT_FOUND: () => 'La base de datos ya no existe.',
      INDEX_MISSING: () => 'Al almacén le falta el índice de versiones: «tilecouch push» lo instala.',
      UNAUTHORIZED: () => 'El almacén no le permite leerlo.',
      FORBIDDEN: () => 'El almacén no le permite leerlo.'
    },
    other: (name, message) => `El almacén tiene un problema: ${message}.`,
    keepsAsking: 'Esta página sigue preguntando.',
    fromDevice: (isOnline, time) => `${isOnline ? 'El servidor no responde.' : 'Está sin conexión.'} Esto es lo que el dispositivo tiene del mapa${time ? `, a ${time}` : '; no está todo'}.`,
    failed: number => `${tiles(number)} sin cargar. Se sigue intentando.`,
    vector: 'Son teselas vectoriales. Esta página sabe cuándo cambiaron, pero este navegador no puede dibujarlas: no tiene WebGL.',
    notHere: 'No hay nada de este lugar en este dispositivo.',
    noneBefore: time => `Este lugar no tiene teselas antes del ${time}.`,
    goThere: 'Ir allí',
    noneHere: name => `«${name}» no tiene teselas aquí.`,
    showWhere: 'Mostrar dónde las hay'
  },
  link: {
    problems: problems => `No se pudo seguir todo este enlace. ${problems.join(' ')}`,
    unknown: (name, isOnDevice) => `No hay ninguna capa «${name}» ${isOnDevice ? 'en este dispositivo' : 'aquí'}.`,
    noLayer: 'No nombra ninguna capa.',
    noPlace: 'No nombra ningún lugar del mapa.',
    noTime: text => `«${text}» no es una fecha.`
  },

  map: {
    label: 'Mapa. Las flechas lo mueven, Intro muestra lo que se sabe del lugar del centro, ? lista todas las teclas.',
    timeline: 'Línea de tiempo',
    tools: 'Herramientas del mapa',
    zoomIn: 'Acercar',
    zoomOut: 'Alejar',
    find: 'Buscar un lugar',
    locate: 'Mostrar dónde estoy',
    locating: 'Buscando su posición …',
    notLocated: ['Los navegadores solo dan la posición a páginas abiertas por https.', 'El navegador no da su posición a esta página.', 'Este dispositivo no sabe dónde está.', 'Este dispositivo no encontró su posición a tiempo.'],
    measure: 'Medir una distancia',
    full: 'Pantalla completa',
    leaveFull: 'Salir de la pantalla completa',
    noFull: 'El navegador no permite la pantalla completa a esta página.',
    keys: 'Teclas'
  },
  measure: {
    hint: 'Pulse en los lugares entre los que mide.',
    undo: 'Deshacer',
    both: (length, area) => `${length}, encierra ${area}`
  },
  keys: {
    title: 'Teclas',
    when: 'Funcionan mientras el mapa tiene el foco.',
    space: 'Espacio',
    does: {
      move: 'Mover el mapa', zoom: 'Acercar, alejar', tile: 'Lo que se sabe del lugar del centro', play: 'Reproducir, pausa', previous: 'Cambio anterior aquí',
      next: 'Cambio siguiente aquí', newest: 'Lo último', compare: 'Comparar', find: 'Buscar un lugar', measure: 'Medir', close: 'Cerrar la ficha', keys: 'Esta lista'
    }
  },
  find: {
    label: 'Buscar un lugar',
    placeholder: 'Lugar o coordenadas',
    hint: 'Por ejemplo 47,5 N 8,3 E, 10/534/358 o el nombre de una capa.',
    results: 'Lugares',
    close: 'Cerrar la búsqueda',
    coordinates: 'Coordenadas',
    layer: 'Capa',
    pressEnter: host => `Intro busca en ${host}.`,
    asking: host => `Preguntando a ${host} …`,
    found: (number, host) => `${count({ one: '# lugar', other: '# lugares' })(number)} de ${host}`,
    nothing: 'No se encontró nada.',
    failed: host => `${host} no responde.`
  },

  panel: {
    layers: 'Capas',
    hide: 'Ocultar la lista de capas',
    show: 'Mostrar la lista de capas',
    find: 'Buscar una capa',
    noMatch: text => `Ninguna capa coincide con «${text}».`,
    zoom: zooms => `zoom ${zooms}`,
    compare: 'Comparar'
  },
  facts: {
    terms: { layer: 'Capa', tiles: 'Teselas', versions: 'Versiones', size: 'Tamaño', zooms: 'Niveles', first: 'Primera', last: 'Última', conflicts: 'Conflictos', source: 'Fuente' },
    disagree: number => `Almacenes cargados por separado se contradicen en ${count({ one: '# documento', other: '# documentos' })(number)}.`,
    repairs: 'lo repara: queda la versión más reciente y no se pierde nada.'
  },
  otherGrid: {
    head: name => `«${name}» no está en Web Mercator`,
    why: grid => `Sus teselas siguen la cuadrícula ${grid}. El mapa de esta página solo dibuja Web Mercator, así que no muestra nada de esta capa.`,
    programs: 'Leaflet y OpenLayers la dibujan; QGIS y GDAL, por medio de una pasarela. Esta es la dirección de sus teselas:'
  },
  address: { head: 'Dirección para programas de mapas', copy: 'Copiar', copied: 'Copiado', selected: 'Marcado', more: 'Direcciones para otros programas' },
  stack: {
    onMap: 'En el mapa',
    base: 'Mapa base',
    noBase: 'Ninguno',
    order: 'Capas superpuestas, la más alta primero',
    over: name => `Mostrar «${name}» sobre el mapa`,
    off: name => `Quitar «${name}» del mapa`,
    up: name => `Subir «${name}»`,
    down: name => `Bajar «${name}»`,
    opacity: name => `Opacidad de «${name}»`
  },
  editions: {
    count: editions,
    last: number => `Las últimas ${editions(number)}`,
    find: 'Buscar una edición',
    noMatch: text => `Ninguna edición coincide con «${text}».`,
    searching: found => `Buscando, ${editions(found)} hasta ahora …`,
    ofEveryTile: 'de cada tesela',
    loading: 'cargando …',
    older: 'Ediciones anteriores',
    footprint: 'Trazar lo que abarca',
    onlyHere: 'Solo lo que cambió aquí',
    noneHere: 'Aquí no ha cambiado nada.',
    looking: 'Buscando cambios …',
    share: (share, number) => [share, tiles(number)].filter(Boolean).join(' · '),
    heat: 'Mostrar dónde cambia a menudo',
    seldom: 'raramente',
    often: 'a menudo'
  },

  features: {
    looking: 'Buscando …',
    here: 'Aquí',
    layer: 'Capa',
    caption: 'Objetos distintos, según su capa',
    kinds: { added: 'añadidos', changed: 'modificados', removed: 'eliminados' },
    alike: 'Ningún objeto es distinto.',
    mark: 'Marcar estos objetos',
    save: 'Guardar como GeoJSON',
    failed: message => `No se pudieron comparar los objetos: ${message}.`
  },
  changed: {
    title: 'Qué cambió aquí',
    between: ['Entre ', ' y ', ''],
    showTime: 'Mostrar esta fecha',
    outline: 'Trazar las teselas que cambiaron',
    looking: 'Buscando …',
    alike: 'Aquí nada se ve distinto.',
    nothing: 'Aquí no ha cambiado nada.',
    tiles: changed,
    steps: number => `en ${count({ one: '# paso', other: '# pasos' })(number)}, en la parte visible del mapa`
  },
  compare: {
    start: 'Comparar estas fechas',
    stop: 'Dejar de comparar',
    nothing: 'Solo hay una fecha, y ninguna otra capa con la que comparar.',
    handle: 'Comparar: izquierda y derecha',
    control: {
      left: 'izquierda',
      right: 'derecha',
      otherMap: 'Segundo mapa',
      swipe: (left, leftShare, right, rightShare) => `${left} en ${leftShare} %, ${right} en ${rightShare} % del mapa`,
      fade: (left, leftShare, right, rightShare) => `${left} ${leftShare} %, ${right} ${rightShare} %`
    },
    mode: 'Cómo comparar',
    modes: { swipe: 'Cortina', side: 'Lado a lado', fade: 'Fundido' },
    sides: {
      left: { name: 'Izquierda', layer: 'Capa de la izquierda', time: 'Fecha de la izquierda' },
      right: { name: 'Derecha', layer: 'Capa de la derecha', time: 'Fecha de la derecha' }
    }
  },
  place: {
    title: 'Este lugar',
    reading: 'Leyendo sus versiones …',
    unreadable: why => `No se pueden leer sus versiones: ${why}`,
    nothing: 'El almacén no tiene tesela aquí.',
    notYet: 'Aquí aún no había nada.',
    gone: 'Aquí ya no hay nada',
    goneFrom: 'Retirada: sin tesela desde aquí',
    goneSince: 'Retirada desde',
    noImage: 'Sin imagen',
    source: 'Fuente',
    unchangedSince: 'Sin cambios desde',
    checked: 'Comprobado',
    until: 'Volvió a cambiar',
    versions: (number, zone) => `${versions(number)}, horas en ${zone}`,
    last: (number, zone) => `Las últimas ${versions(number)}, horas en ${zone}`,
    older: 'Versiones anteriores',
    newest: 'actual',
    download: 'Descargar la imagen',
    downloadOf: time => `Descargar la imagen del ${time}`,
    details: 'Detalles',
    terms: {
      tile: 'Tesela', time: 'Fecha', stored: 'Guardada', expires: 'Caduca', expired: 'Caducada', size: 'Tamaño', type: 'Tipo',
      address: 'Obtenida de', document: 'Documento', revision: 'Revisión'
    }
  },

  take: {
    title: 'Llevárselo',
    notLoaded: why => `Esta parte de la página no se cargó (${why}). Recargue la página cuando haya red.`,
    openMap: 'Abrir el mapa'
  }
}
