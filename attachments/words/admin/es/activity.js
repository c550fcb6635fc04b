import { counted } from '../../counted.js'

const number = counted('es')

export const activity = {
  reading: 'Leyendo la actividad …',
  lead: 'Quién ha cambiado capas, ediciones, el acceso y los ajustes, aquí y con comandos. Lo más reciente va primero.',
  none: 'Todavía no hay nada anotado.',
  noMatch: 'Ninguna actividad coincide.',
  found: number({ one: '# cambio', other: '# cambios' }),
  filter: 'Filtro',
  all: 'Todo',
  by: { layer: 'Capa', user: 'Usuario', what: 'Qué' },
  what: {
    layer: 'Capa',
    edition: 'Edición',
    access: 'Acceso',
    store: 'Ajustes del almacén',
    token: 'Token',
    style: 'Estilo'
  },
  done: { created: 'creado', changed: 'cambiado', removed: 'eliminado' },
  page: 'en la sala de control',
  moreFields: number({ one: 'y # campo más', other: 'y # campos más' }),
  nothing: '(nada)',
  nobody: '(nadie)',
  yes: 'sí',
  no: 'no',
  seconds: number({ one: '# segundo', other: '# segundos' }),
  role: name => `el rol ${name}`,
  keep: {
    head: 'Cuánto tiempo se conserva la actividad',
    now: number({
      one: 'La actividad se conserva # día. La más antigua se elimina.',
      other: 'La actividad se conserva # días. La más antigua se elimina.'
    }),
    days: 'Días (de 30 a 36500)',
    save: 'Guardar',
    saved: days => `La actividad se conserva ahora ${days} días.`,
    clash: 'Otra persona ha cambiado esto entretanto. Mire el nuevo valor y guarde otra vez.'
  },
  fields: {
    retention: 'Conservación',
    upstream: 'Origen',
    removedTiles: 'Teselas eliminadas',
    removedVersions: 'Versiones eliminadas',
    removedEditions: 'Ediciones eliminadas',
    tiles: 'Teselas leídas',
    created: 'Teselas nuevas',
    advanced: 'Teselas cambiadas',
    backfilled: 'Teselas puestas en el pasado',
    gone: 'Teselas desaparecidas',
    editions: 'Ediciones',
    styles: 'Estilos',
    versions: 'Versiones',
    copiedFrom: 'Copiado de',
    layer: 'Nombre',
    public: 'Todos leen',
    readers: 'Lectores',
    writers: 'Escritores',
    admins: 'Administradores',
    roles: 'Roles',
    names: 'Nombres',
    signIn: 'Inicio de sesión',
    title: 'Título',
    source: 'Fuente',
    logo: 'Logotipo',
    colours: 'Colores',
    opens: 'Primera capa',
    base: 'Mapa base',
    gazetteer: 'Búsqueda de lugares',
    places: 'Lugares',
    activityDays: 'Días que se conserva la actividad'
  }
}
