// swift-tools-version: 6.1
import PackageDescription

// Measures the media path. A package of its own, so that `swift build` and `swift test` of the product know nothing of it.
let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "trunkline", path: "..")],
    targets: [
        // Counts calls to malloc: C, since it stands in for the C library's own.
        .target(name: "AllocationCounter"),
        .executableTarget(
            name: "bench",
            dependencies: [
                "AllocationCounter",
                .product(name: "MediaParts", package: "trunkline"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("ExistentialAny"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
