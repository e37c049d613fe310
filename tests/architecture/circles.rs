//! Which files of a package import each other.
//!
//! A file imports another where it names, by a path that begins with `crate`,
//! `super`, `self` or a module of its own, something that stands there; what a
//! module only exports again stands where it comes from.

use crate::source::{Package, SourceFile};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{Item, UseTree, Visibility};

type Module = Vec<String>;

/// The sets of files of which each imports each, if by others of them.
pub fn circles(package: &Package) -> Vec<BTreeSet<String>> {
    let map = Map::new(package);
    let imports: BTreeMap<&str, BTreeSet<&str>> = package
        .files
        .iter()
        .map(|file| (file.path.as_str(), map.imports(file)))
        .collect();
    let reached: BTreeMap<&str, BTreeSet<&str>> = imports
        .keys()
        .map(|file| (*file, reachable(file, &imports)))
        .collect();
    let mut circles = BTreeSet::new();
    for (file, from_here) in &reached {
        let circle: BTreeSet<String> = from_here
            .iter()
            .filter(|other| reached[*other].contains(file))
            .map(|other| (*other).to_owned())
            .collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

fn reachable<'f>(
    start: &'f str,
    imports: &BTreeMap<&'f str, BTreeSet<&'f str>>,
) -> BTreeSet<&'f str> {
    let mut met = BTreeSet::new();
    let mut next = vec![start];
    while let Some(file) = next.pop() {
        for import in &imports[file] {
            if met.insert(*import) {
                next.push(import);
            }
        }
    }
    met
}

/// The modules of a package.
struct Map<'p> {
    files: BTreeMap<&'p [String], &'p SourceFile>,
    trees: BTreeMap<&'p str, syn::File>,
    /// Module and name → where the name comes from, if it is only handed on.
    handed_on: BTreeMap<(Module, String), Module>,
}

impl<'p> Map<'p> {
    fn new(package: &'p Package) -> Self {
        let mut map = Self {
            files: BTreeMap::new(),
            trees: BTreeMap::new(),
            handed_on: BTreeMap::new(),
        };
        for file in &package.files {
            // The program beside the library is nobody's module.
            if file.path != "src/main.rs" {
                map.files.insert(&file.module, file);
            }
            let tree = syn::parse_file(&file.text).unwrap();
            map.trees.insert(&file.path, tree);
        }
        for file in &package.files {
            for item in &map.trees[file.path.as_str()].items {
                if let Item::Use(item) = item
                    && !matches!(item.vis, Visibility::Inherited)
                {
                    for (path, name) in leaves(&item.tree) {
                        if let Some(full) = map.absolute(&file.module, &path) {
                            map.handed_on.insert((file.module.clone(), name), full);
                        }
                    }
                }
            }
        }
        map
    }

    /// The files that a file imports, but for itself.
    fn imports(&self, file: &SourceFile) -> BTreeSet<&'p str> {
        let mut paths = Paths {
            module: file.module.clone(),
            found: Vec::new(),
        };
        paths.visit_file(&self.trees[file.path.as_str()]);
        paths
            .found
            .iter()
            .filter_map(|(module, path)| self.absolute(module, path))
            .filter_map(|path| self.home(path))
            .filter(|home| *home != file.path)
            .collect()
    }

    /// From the root of the crate; none for what is no module of the crate's.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let mut full = match first.as_str() {
            "crate" => Module::new(),
            "self" => module.to_vec(),
            "super" => module.split_last()?.1.to_vec(),
            own => {
                let mut child = module.to_vec();
                child.push(own.to_owned());
                self.files.contains_key(child.as_slice()).then_some(child)?
            }
        };
        for name in rest {
            match name.as_str() {
                "super" => drop(full.pop()),
                "self" => {}
                name => full.push(name.to_owned()),
            }
        }
        Some(full)
    }

    /// The file in which what a path means stands.
    fn home(&self, mut path: Module) -> Option<&'p str> {
        // A chain of exports is short; a longer one is a mistake here.
        for _ in 0..16 {
            let depth = (0..=path.len())
                .rev()
                .find(|depth| self.files.contains_key(&path[..*depth]))?;
            let (module, rest) = path.split_at(depth);
            let Some((name, after)) = rest.split_first() else {
                return Some(&self.files[module].path);
            };
            match self.handed_on.get(&(module.to_vec(), name.clone())) {
                Some(from) => path = from.iter().chain(after).cloned().collect(),
                None => return Some(&self.files[module].path),
            }
        }
        None
    }
}

/// The paths of a file that can lead to another one, each with the module in
/// which it stands.
struct Paths {
    module: Module,
    found: Vec<(Module, Vec<String>)>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = item.ident == "tests";
        if item.content.is_some() && !is_test {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // What is handed on is followed from where it is used.
        if matches!(item.vis, Visibility::Inherited) {
            for (path, _) in leaves(&item.tree) {
                self.found.push((self.module.clone(), path));
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        if names.len() > 1 {
            self.found.push((self.module.clone(), names));
        }
        visit::visit_path(self, path);
    }
}

/// Each path that a `use` names, and the name that it gets.
fn leaves(tree: &UseTree) -> Vec<(Vec<String>, String)> {
    match tree {
        UseTree::Path(path) => {
            let mut below = leaves(&path.tree);
            for (names, _) in &mut below {
                names.insert(0, path.ident.to_string());
            }
            below
        }
        UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        UseTree::Rename(name) => vec![(vec![name.ident.to_string()], name.rename.to_string())],
        UseTree::Glob(_) => vec![(Vec::new(), "*".to_owned())],
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}
